"""What acts: the part of a policy that needs no torch.

``plugrl.policies.base.BasePolicy`` is one that is a torch module. To import torch takes longer than
all the rest of a server's start; its threads and its seed are set where a policy's or an
algorithm's module imports it.

Legend: n envs of a batch, H action horizon.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from plugrl.config.base import EnvSizes, PolicyConfig
from plugrl.data.frames import Inference
from plugrl.errors import CheckpointMismatchError
from plugrl.protocol.messages import Observation

ConfigT = TypeVar("ConfigT", bound=PolicyConfig)


class Policy(ABC, Generic[ConfigT]):
    """Answers observations with action chunks.

    As it stands it has nothing to train and nothing random; who has overrides ``weights``,
    ``random_state`` and their counterparts.
    """

    config: ConfigT

    def __init__(self, config: ConfigT, sizes: EnvSizes | None = None, *, seed: int = 0) -> None:
        """Hold the config.

        Args:
            config: the policy's config; sizes left at 0 or empty are taken from ``sizes``.
            sizes: the env's sizes, where they are known.
            seed: seeds what is random in it.

        Raises:
            UsageError: a size is needed and neither ``config`` nor ``sizes`` has it.
        """
        self.config = config

    @abstractmethod
    def act(self, obs: Observation, *, deterministic: bool = False) -> Inference:
        """Actions (n, H, *action shape) for n observations, and what training needs of them."""

    def check_observation(self, obs: Observation) -> None:
        """Refuse an observation that ``act`` can't take; the default takes any.

        Raises:
            InvalidMessageError: with expected, got and where.
        """

    def metadata(self) -> dict[str, Any]:
        """What the greeting says of sizes, where the policy knows them.

        Keys: ``obs_dim``, ``action_dim``, ``action_horizon`` (int) and ``num_choices`` (a list,
        empty for continuous actions). Clients of other sizes then end with a sentence.
        """
        return {}

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copies of all parameters and buffers, by name."""
        return {}

    def load_weights(
        self, weights: Mapping[str, NDArray[Any]], *, without: str | None = None
    ) -> None:
        """Take what ``weights`` returned.

        Args:
            weights: arrays by name.
            without: prefix of the names to leave as they are, such as ``critic.``.

        Raises:
            CheckpointMismatchError: names or shapes differ; says which.
        """
        strangers = [n for n in sorted(weights) if without is None or not n.startswith(without)]
        if strangers:
            raise CheckpointMismatchError(
                f"expected no weights, got {strangers}, at model, for a {type(self).__name__}"
            )

    def random_state(self) -> dict[str, NDArray[Any]]:
        """Copies of its generators' states, by name."""
        return {}

    def load_random_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Have its generators go on from ``state``, which may hold those of others too."""
