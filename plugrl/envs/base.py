"""What an env is to a client: a vector of envs that never resets by itself.

Legend: k envs addressed by a call, n envs in all.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.bundles import bundle
from plugrl.config.base import EnvSizes
from plugrl.errors import UsageError
from plugrl.protocol.messages import Array, Info, Observation
from plugrl.registry import ENVS


@bundle
class StepResult:
    """What came of one step of k envs."""

    obs: Observation
    """k rows; terminal observations where an episode ended."""
    rewards: NDArray[np.float64]
    """(k,)"""
    terminated: NDArray[np.bool_]
    """(k,) the episode ended by the task's own rules."""
    truncated: NDArray[np.bool_]
    """(k,) the episode was cut, by a step limit for example."""
    info: Info = field(default_factory=dict)
    """Arrays of k entries; of these ``success`` (bool) is read, at steps that end an episode."""


class VectorEnv(ABC):
    """n envs stepped together, any subset at a time.

    A class registered with ``register_env`` is built as ``cls(config, num_envs)``. There is no
    autoreset: ``step`` returns the terminal observation of an episode that ended, and the caller
    resets that env before it steps it again.
    """

    num_envs: int
    """n; envs are numbered from 0."""

    @abstractmethod
    def reset(self, env_indices: NDArray[np.int64], seeds: Sequence[int] | None) -> Observation:
        """Start an episode in each of k envs.

        Args:
            env_indices: (k,) which envs.
            seeds: k seeds, or None to go on with each env's own random numbers.

        Returns:
            k rows, in the order of ``env_indices``, in arrays that later calls leave alone.
        """

    @abstractmethod
    def step(self, env_indices: NDArray[np.int64], actions: Array) -> StepResult:
        """Step k envs, each in the middle of an episode.

        Args:
            env_indices: (k,) which envs, in ascending order.
            actions: (k, *action shape) one action for each, as the server sent them.

        Raises:
            IncompatibleError: the actions are not of this env's kind.
            EnvError: the env broke its own contract.
        """

    def greet(self, metadata: Mapping[str, Any]) -> None:  # noqa: B027
        """Hear what the server said of itself, on each connection; the default takes no notice."""

    def sizes(self) -> EnvSizes | None:
        """What a policy must know of the env; None, the default, where the class does not tell."""
        return None

    def render(self) -> NDArray[np.uint8]:
        """The picture of env 0, (h, w, 3).

        Raises:
            UsageError: this env draws no pictures.
        """
        raise UsageError(f"{type(self).__name__} draws no pictures; leave out --video-every")

    def close(self) -> None:  # noqa: B027
        """Release what the envs hold; the default has nothing to release."""


def build_env(uid: str, config: Any, num_envs: int) -> VectorEnv:
    """The env registered as ``uid``.

    Raises:
        UnknownNameError: ``uid`` is not registered.
        UsageError: the env can't be built; says why, and the remedy.
    """
    env: VectorEnv = ENVS.cls(uid)(config, num_envs)
    return env
