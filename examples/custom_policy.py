"""A policy of your own: a Gaussian whose actor and critic share a trunk, trained by PPO.

    plugrl-run-server shared-trunk small ppo debug --import examples.custom_policy --env hopper

PPO takes any ``ActorCritic``: one that can say how likely an action is and what a state is worth.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import nn

from plugrl.config.base import EnvSizes, PolicyConfig
from plugrl.data.frames import Inference
from plugrl.policies.actor_critic import ActorCritic, Evaluation, known_size
from plugrl.policies.base import check_width, flatten_states
from plugrl.policies.gaussian import normal_entropy, normal_log_prob
from plugrl.protocol.messages import Observation
from plugrl.registry import register_policy, register_policy_config


@register_policy_config("shared-trunk")
@dataclass(frozen=True, kw_only=True)
class SharedTrunkConfig(PolicyConfig):
    """Config of the shared-trunk policy; its fields become ``--policy.*``."""

    capabilities: ClassVar[frozenset[str]] = frozenset({"log_prob", "value"})

    width: int = 128
    """Width of the trunk."""


@register_policy_config("shared-trunk", "small")
def small() -> SharedTrunkConfig:
    """A named variant."""
    return SharedTrunkConfig(width=32)


@register_policy("shared-trunk")
class SharedTrunkPolicy(ActorCritic[SharedTrunkConfig]):
    """One hidden layer under both heads."""

    def __init__(
        self, config: SharedTrunkConfig, sizes: EnvSizes | None = None, *, seed: int = 0
    ) -> None:
        """Build the layers."""
        super().__init__(config, sizes, seed=seed)
        self.obs_dim: int = known_size("obs_dim", 0, sizes and sizes.obs_dim)
        self.action_dim: int = known_size("action_dim", 0, sizes and sizes.action_dim)
        self.trunk = nn.Sequential(nn.Linear(self.obs_dim, config.width), nn.Tanh())
        self.mean = nn.Linear(config.width, self.action_dim)
        self.critic = nn.Linear(config.width, 1)
        self.log_std = nn.Parameter(torch.zeros(self.action_dim))
        self.to(config.device)

    @torch.inference_mode()
    def act(self, obs: Observation, *, deterministic: bool = False) -> Inference:
        """Actions (n, 1, action_dim), and what PPO will need of them."""
        inputs = torch.from_numpy(self.observe(obs)).to(self.config.device)
        mean = self.mean(self.trunk(inputs))
        noise = torch.randn(mean.shape, generator=self.rng, device=mean.device)
        actions = (mean if deterministic else mean + self.log_std.exp() * noise).unsqueeze(1)
        now = self.evaluate(inputs, actions)
        step_state = {"log_prob": now.log_probs.cpu().numpy(), "value": now.values.cpu().numpy()}
        return Inference(actions.cpu().numpy(), step_state)

    def check_observation(self, obs: Observation) -> None:
        """Refuse observations of another width."""
        check_width(obs, self.obs_dim)

    def metadata(self) -> dict[str, Any]:
        """What clients are told."""
        return {"action_dim": self.action_dim, "action_horizon": 1}

    def observe(self, obs: Observation) -> NDArray[Any]:
        """What PPO stores of n observations."""
        return flatten_states(obs)

    def prepare(self, stored: torch.Tensor) -> torch.Tensor:
        """No normalisation here."""
        return stored

    def evaluate(self, inputs: torch.Tensor, actions: torch.Tensor) -> Evaluation:
        """Judge actions (B, 1, action_dim), with gradients."""
        features = self.trunk(inputs)
        return Evaluation(
            normal_log_prob(actions.squeeze(1), self.mean(features), self.log_std),
            normal_entropy(self.log_std),
            self.critic(features).squeeze(-1),
        )

    def value(self, inputs: torch.Tensor) -> torch.Tensor:
        """What B observations are worth."""
        values: torch.Tensor = self.critic(self.trunk(inputs))
        return values.squeeze(-1)
