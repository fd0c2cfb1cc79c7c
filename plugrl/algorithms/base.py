"""What a learning algorithm is: an ``Algorithm`` with a policy of torch and a generator."""

from dataclasses import replace
from typing import Any

import torch

from plugrl.algorithms.algorithm import Algorithm, ConfigT, TrainState
from plugrl.errors import IncompatibleError
from plugrl.networks.arrays import generator_state, load_generator_state
from plugrl.policies.base import BasePolicy


class BaseAlgorithm(Algorithm[ConfigT]):
    """Base of every algorithm that learns; ``plugrl.server.algorithm`` has the calling order."""

    policy: BasePolicy[Any]

    def __init__(self, config: ConfigT, policy: BasePolicy[Any], *, seed: int = 0) -> None:
        """Hold the config and the policy to train.

        Args:
            config: the algorithm's config.
            policy: what acts and is trained.
            seed: seeds ``rng``, the generator of everything random in a learn.

        Raises:
            IncompatibleError: the policy is no module of torch, and has nothing to train.
        """
        if not isinstance(policy, BasePolicy):
            raise IncompatibleError(
                f"expected a policy with networks, got {type(policy).__name__}, at "
                f"{type(self).__name__}"
            )
        super().__init__(config, policy, seed=seed)
        self.rng = torch.Generator().manual_seed(seed)

    def state(self) -> TrainState:
        """A copy of all that the run must remember, the generators' states included.

        Frames collected since the last learn are not in it: its ``global_step`` counts those
        learned from, so that a checkpoint never claims a step that it does not contain.
        """
        state = super().state()
        generators = {"rng.algorithm": generator_state(self.rng)}
        return replace(state, optimizer={**state.optimizer, **generators})

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned, dropping all frames collected since.

        Raises:
            CheckpointMismatchError: the model is of another architecture.
        """
        super().load_state(state)
        load_generator_state(self.rng, state.optimizer["rng.algorithm"])
