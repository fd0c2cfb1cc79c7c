"""What the server asks of an algorithm and of a run; it speaks NumPy and knows no torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.protocol.messages import Info, Observation


class ServedAlgorithm(Protocol):
    """The verbs of the server's loop. All calls come one after another, never two at a time."""

    on_policy: ClassVar[bool]
    """False: every frame with step state is fed, of whatever policy version."""
    global_step: int
    """Frames stored so far."""
    num_learns: int
    """Learns done so far: the policy's version."""

    def metadata(self) -> Mapping[str, Any]:
        """What clients are told: ``action_dim`` and ``action_horizon`` where they are known."""

    def check_observation(self, obs: Observation) -> None:
        """Refuse an observation that the policy can't take.

        Raises:
            InvalidMessageError: with expected, got and where.
        """

    def infer(self, obs: Observation) -> Inference:
        """Actions for n observations."""

    def feedback(self, frames: Frames) -> int:
        """Take frames of the current policy in order, until ``should_learn``.

        Returns:
            How many were stored, a prefix; the caller discards the rest as "buffer full".
        """

    def discard_feedback(
        self, *, info: Info, next_terminated: NDArray[Any], next_truncated: NDArray[Any]
    ) -> None:
        """Take note of m frames that are not stored."""

    def should_learn(self) -> bool:
        """Whether to learn before any further inference."""

    def should_save(self) -> bool:
        """Whether a checkpoint is due."""

    def should_stop(self) -> bool:
        """Whether the run is finished."""

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Learn from the stored frames; returns metrics by name. Runs off the event loop.

        Raises:
            LearnInterruptedError: ``progress`` was interrupted; the state is then half-updated.
        """


class LearnerBackend(Protocol):
    """Where a learn is computed: this process, or others."""

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Have the algorithm learn; runs off the event loop.

        Raises:
            LearnInterruptedError: ``progress`` was interrupted, and the algorithm is again exactly
                what it was before this call, its frames dropped.
        """


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint on disk."""

    path: Path
    step: int
    """Frames learned from."""
    num_bytes: int
    seconds: float
    """How long the write took."""


class Saver(Protocol):
    """Makes checkpoints, in two halves, so that training waits only for the copy."""

    def snapshot(self) -> Callable[[], SavedCheckpoint]:
        """Copy the state; called while nothing else uses the model.

        Returns:
            The function that writes the copy to disk, from any thread, and raises ``OSError``
            when it can't.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class RunIdentity:
    """Who this run is: shown by the monitor and told to clients."""

    exp_name: str = ""
    policy: str = ""
    policy_variant: str = ""
    algorithm: str = ""
    algorithm_variant: str = ""
    env: str | None = None
    """The env's name, where a person gave one."""
    total_steps: int | None = None
    """Frames after which the run is finished, where there is such a number."""
    run_dir: str = ""
    """Folder of the run's files."""
