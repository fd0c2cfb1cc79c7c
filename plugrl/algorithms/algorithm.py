"""What counts frames and may learn from them: the part of an algorithm that needs no torch.

``plugrl.algorithms.base.BaseAlgorithm`` adds a generator, for those that learn.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from plugrl.config.base import AlgorithmConfig
from plugrl.data.episodes import EpisodeStats
from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.policies.policy import Policy
from plugrl.protocol.messages import Info, Observation

ConfigT = TypeVar("ConfigT", bound=AlgorithmConfig)


@dataclass(frozen=True)
class TrainState:
    """All that a run must remember, as plain data: what a checkpoint holds, no more, no less."""

    model: Mapping[str, NDArray[Any]]
    """Parameters and buffers, as the policy names them; copies."""
    optimizer: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """The optimizer's arrays and the generators' states, by name; copies."""
    counters: Mapping[str, Any] = field(default_factory=dict)
    """JSON: ``global_step``, ``num_learns``, episodes, and what else the algorithm counts."""


class Algorithm(ABC, Generic[ConfigT]):
    """The verbs of the server's loop, and the state that a checkpoint holds.

    ``plugrl.server.algorithm.ServedAlgorithm`` has the calling order.
    """

    on_policy: ClassVar[bool] = True
    """False: every frame with step state is fed, of whatever policy version."""

    def __init__(self, config: ConfigT, policy: Policy[Any], *, seed: int = 0) -> None:
        """Hold the config and the policy to train.

        Args:
            config: the algorithm's config.
            policy: what acts and is trained.
            seed: seeds everything random in a learn.
        """
        self.config = config
        self.policy = policy
        self.episodes = EpisodeStats()
        self.global_step = 0
        """Frames stored so far."""
        self.num_learns = 0
        """Learns done so far: the policy's version."""

    def metadata(self) -> dict[str, Any]:
        """What clients are told of the policy."""
        return self.policy.metadata()

    def check_observation(self, obs: Observation) -> None:
        """Refuse an observation that the policy can't take.

        Raises:
            InvalidMessageError: with expected, got and where.
        """
        self.policy.check_observation(obs)

    def infer(self, obs: Observation) -> Inference:
        """Actions for n observations."""
        return self.policy.act(obs)

    @abstractmethod
    def feedback(self, frames: Frames) -> int:
        """Take frames in order until ``should_learn``; returns how many, a prefix, were stored.

        Implementations record the episodes of what they store (``record_episodes``); the caller
        hands the rest to ``discard_feedback``.
        """

    def discard_feedback(
        self, *, info: Info, next_terminated: NDArray[np.bool_], next_truncated: NDArray[np.bool_]
    ) -> None:
        """Take note of frames that are not stored: an episode that ended still counts."""
        self.record_episodes(info, next_terminated, next_truncated)

    def record_episodes(
        self, info: Info, next_terminated: NDArray[np.bool_], next_truncated: NDArray[np.bool_]
    ) -> None:
        """Count the episodes that the frames ended."""
        if info:
            self.episodes.record(info, next_terminated | next_truncated)

    @abstractmethod
    def should_learn(self) -> bool:
        """Whether to learn before any further inference."""

    @abstractmethod
    def should_save(self) -> bool:
        """Whether a checkpoint is due; asked after each learn."""

    @abstractmethod
    def should_stop(self) -> bool:
        """Whether the run is finished."""

    @abstractmethod
    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Learn from the stored frames; returns metrics by name and adds 1 to ``num_learns``.

        Raises:
            LearnInterruptedError: from ``progress.step``; the caller rolls back.
        """

    def state(self) -> TrainState:
        """A copy of all that the run must remember.

        As it stands, its ``global_step`` counts all frames that were stored. Who collects them for
        a learn overrides that with the number of those learned from, so that a checkpoint claims
        no step that it does not contain.
        """
        return TrainState(
            model=self.policy.weights(),
            optimizer=self.policy.random_state(),
            counters={
                "global_step": self.global_step,
                "num_learns": self.num_learns,
                "episodes": self.episodes.state(),
            },
        )

    def conclusion(self) -> str | None:
        """What to tell a person at the end of the run; None, the default, has nothing to add."""
        return None

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned, dropping all frames collected since.

        Raises:
            CheckpointMismatchError: the model is of another architecture.
            LookupError, TypeError, ValueError: it is no state of such an algorithm.
        """
        self.load_model(state.model)
        self.policy.load_random_state(state.optimizer)
        self.global_step = operator.index(state.counters["global_step"])
        self.num_learns = operator.index(state.counters["num_learns"])
        self.episodes = EpisodeStats()
        self.episodes.load_state(state.counters["episodes"])

    def load_model(self, model: Mapping[str, NDArray[Any]], *, without: str | None = None) -> None:
        """Take weights only.

        Args:
            model: the policy's arrays, by name.
            without: prefix of the names to leave as they are, such as ``critic.``.

        Raises:
            CheckpointMismatchError: names or shapes differ; says which.
        """
        self.policy.load_weights(model, without=without)
