"""What a trained policy is: a torch module that answers observations with action chunks.

Legend: n envs of a batch, D obs_dim.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plugrl.config.base import EnvSizes
from plugrl.errors import InvalidMessageError
from plugrl.networks.arrays import generator_state, load_arrays, load_generator_state, to_arrays
from plugrl.policies.policy import ConfigT, Policy
from plugrl.protocol.messages import Observation
from plugrl.protocol.numbers import in_range


class BasePolicy(nn.Module, Policy[ConfigT]):
    """Base of every policy with networks.

    All that must survive a restart lives in ``state_dict`` (parameters and buffers) and in
    ``rng`` (the generator that actions are sampled with).
    """

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
        nn.Module.__init__(self)
        Policy.__init__(self, config, sizes, seed=seed)
        self.rng = torch.Generator(device=config.device)
        self.rng.manual_seed(seed)

    def weights(self) -> dict[str, NDArray[Any]]:
        """Copies of all parameters and buffers, as ``state_dict`` names them."""
        return to_arrays(self.state_dict())

    def load_weights(
        self, weights: Mapping[str, NDArray[Any]], *, without: str | None = None
    ) -> None:
        """Take what ``weights`` returned, all of it or on an error nothing.

        Raises:
            CheckpointMismatchError: names or shapes differ; says which.
        """
        load_arrays(self, weights, without=without)

    def random_state(self) -> dict[str, NDArray[Any]]:
        """A copy of the state of ``rng``."""
        return {"rng.policy": generator_state(self.rng)}

    def load_random_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Have ``rng`` go on from ``state``."""
        load_generator_state(self.rng, state["rng.policy"])


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
