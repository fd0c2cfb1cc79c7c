"""What a policy is: a torch module that answers observations with action chunks.

Legend: n envs of a batch, H action horizon, D obs_dim.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plugrl.config.base import EnvSizes, PolicyConfig
from plugrl.data.frames import Inference
from plugrl.errors import InvalidMessageError
from plugrl.protocol.messages import Observation
from plugrl.protocol.numbers import in_range

ConfigT = TypeVar("ConfigT", bound=PolicyConfig)


class BasePolicy(nn.Module, ABC, Generic[ConfigT]):
    """Base of every policy.

    All that must survive a restart lives in ``state_dict`` (parameters and buffers) and in
    ``rng`` (the generator that actions are sampled with).
    """

    config: ConfigT
    rng: torch.Generator

    def __init__(self, config: ConfigT, sizes: EnvSizes | None = None, *, seed: int = 0) -> None:
        """Build the networks.

        Args:
            config: the policy's config; sizes left at 0 or empty are taken from ``sizes``.
            sizes: the env's sizes, where they are known.
            seed: seeds ``rng``; torch's global generator, which initialises weights, is seeded by
                the caller.

        Raises:
            UsageError: a size is needed and neither ``config`` nor ``sizes`` has it.
        """
        super().__init__()
        self.config = config
        self.rng = torch.Generator(device=config.device)
        self.rng.manual_seed(seed)

    @abstractmethod
    def act(self, obs: Observation, *, deterministic: bool = False) -> Inference:
        """Actions for n observations, with what training will need of them."""

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


def flatten_states(obs: Observation) -> NDArray[np.float32]:
    """All states concatenated in the order of their names: a new (n, D) float32 array."""
    states = obs.states
    if len(states) == 1:
        (only,) = states.values()
        return only.astype(np.float32)
    names = sorted(states)
    return np.concatenate(
        [states[name] for name in names], axis=1, dtype=np.float32, casting="unsafe"
    )


def check_width(obs: Observation, obs_dim: int) -> None:
    """Refuse observations whose states are not ``obs_dim`` wide in all, or not finite.

    Raises:
        InvalidMessageError: with expected, got and where.
    """
    width = sum(state.shape[1] for state in obs.states.values())
    if width != obs_dim:
        shapes = {name: state.shape for name, state in obs.states.items()}
        raise InvalidMessageError(
            f"expected states {obs_dim} wide in all, got {width} in {shapes}, at $.data.states"
        )
    for name, state in obs.states.items():
        if not in_range(state):
            raise InvalidMessageError(
                f"expected finite float32 numbers, got {state!r}, at $.data.states.{name}"
            )
