"""What a policy offers that has the capabilities ``log_prob`` and ``value``, as PPO needs them.

Legend: n envs of a batch, B rows of a minibatch, H action horizon, D obs_dim, *obs: shape of one
stored observation.
"""

from abc import abstractmethod
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from plugrl.config.actor_critic import StateActorCriticConfig
from plugrl.config.base import EnvSizes, PolicyConfig
from plugrl.data.frames import Inference
from plugrl.errors import UsageError
from plugrl.networks.mlp import MLP
from plugrl.policies.base import BasePolicy, check_width, flatten_states
from plugrl.policies.normalizer import Normalizer
from plugrl.protocol.messages import Observation

ConfigT = TypeVar("ConfigT", bound=PolicyConfig)
StateConfigT = TypeVar("StateConfigT", bound=StateActorCriticConfig)


class Evaluation(NamedTuple):
    """What a policy says now of B observations and the actions that were taken there."""

    log_probs: torch.Tensor
    """(B,) of each whole action chunk."""
    entropy: torch.Tensor
    """(B,), or () where it is the same for every observation."""
    values: torch.Tensor
    """(B,) V(obs)."""


class ActorCritic(BasePolicy[ConfigT]):
    """A policy with a density and a value function.

    The ``step_state`` of its ``act`` is ``{"log_prob": (n,), "value": (n,)}``, float32. Names of
    the value function's parameters start with ``critic.``.
    """

    @abstractmethod
    def observe(self, obs: Observation) -> NDArray[Any]:
        """What to store of n observations: (n, *obs), before any normalisation."""

    @abstractmethod
    def prepare(self, stored: torch.Tensor) -> torch.Tensor:
        """Stored observations as the networks take them, (B, *obs); computed once per learn.

        Whatever it normalises with must stand still until ``absorb``.
        """

    @abstractmethod
    def evaluate(self, inputs: torch.Tensor, actions: torch.Tensor) -> Evaluation:
        """Judge prepared observations (B, *obs) and actions (B, H, *action), with gradients."""

    @abstractmethod
    def value(self, inputs: torch.Tensor) -> torch.Tensor:
        """V of prepared observations (B, *obs): (B,)."""

    def absorb(self, stored: torch.Tensor) -> None:
        """Take a learned rollout's stored observations, (m, *obs), into running moments."""

    def metrics(self) -> dict[str, float]:
        """What to log of the policy itself after a learn."""
        return {}


class StateActorCritic(ActorCritic[StateConfigT]):
    """An actor and a critic, separate perceptrons over all states of an observation."""

    def __init__(
        self,
        config: StateConfigT,
        sizes: EnvSizes | None,
        *,
        num_outputs: int,
        seed: int,
    ) -> None:
        """Build both networks.

        Args:
            config: the policy's config.
            sizes: the env's sizes, where they are known.
            num_outputs: width of the actor's output.
            seed: seeds the generator that actions are sampled with.

        Raises:
            UsageError: neither ``config`` nor ``sizes`` has the observation's width.
        """
        super().__init__(config, sizes, seed=seed)
        self.obs_dim = known_size("obs_dim", config.obs_dim, sizes and sizes.obs_dim)
        self.normalizer = (
            Normalizer(self.obs_dim, clip=config.clip_obs) if config.normalize_obs else None
        )
        hidden, activation = config.hidden_sizes, config.activation
        # core 2, core 13, continuous 4: orthogonal weights; two networks that share nothing
        self.actor = MLP(
            (self.obs_dim, *hidden, num_outputs), activation=activation, output_gain=0.01
        )
        self.critic = MLP((self.obs_dim, *hidden, 1), activation=activation, output_gain=1.0)

    def check_observation(self, obs: Observation) -> None:
        """Refuse observations of another width, or with NaN or infinity in them.

        Raises:
            InvalidMessageError: with expected, got and where.
        """
        check_width(obs, self.obs_dim)

    def observe(self, obs: Observation) -> NDArray[np.float32]:
        """All states, in the order of their names: (n, D)."""
        return flatten_states(obs)

    def prepare(self, stored: torch.Tensor) -> torch.Tensor:
        """Normalise (B, D) by the moments as they are."""
        return stored if self.normalizer is None else self.normalizer(stored)

    def value(self, inputs: torch.Tensor) -> torch.Tensor:
        """V of (B, D): (B,)."""
        values: torch.Tensor = self.critic(inputs)
        return values.squeeze(-1)

    def absorb(self, stored: torch.Tensor) -> None:
        """Fold (m, D) raw observations into the moments."""
        if self.normalizer is not None:
            self.normalizer.update(stored)

    @torch.inference_mode()
    def act(self, obs: Observation, *, deterministic: bool = False) -> Inference:
        """Actions (n, H, *action) for n observations, with their log-probabilities and values."""
        inputs = self.prepare(torch.from_numpy(flatten_states(obs)).to(self.config.device))
        actions, log_probs = self.sample(inputs, deterministic=deterministic)
        return Inference(
            actions.cpu().numpy(),
            {"log_prob": log_probs.cpu().numpy(), "value": self.value(inputs).cpu().numpy()},
        )

    @abstractmethod
    def sample(
        self, inputs: torch.Tensor, *, deterministic: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions (n, H, *action) for prepared (n, D), and their log-probabilities (n,)."""


def known_size(name: str, configured: Any, of_env: Any) -> Any:
    """A size from the config, or else from the env.

    Raises:
        UsageError: neither knows it.
    """
    size = configured or of_env
    if not size:
        raise UsageError(
            f"expected {name} of the env, got none: give --env NAME or --policy."
            f"{name.replace('_', '-')}"
        )
    return size
