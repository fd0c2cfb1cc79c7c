"""The Gaussian policy for continuous actions.

Legend: n or B rows, D obs_dim, H action horizon, A action_dim.
"""

import math
from typing import Any

import torch
from torch import nn

from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.policies.actor_critic import Evaluation, StateActorCritic, known_size

_LOG_2PI = math.log(2 * math.pi)


class GaussianPolicy(StateActorCritic[GaussianConfig]):
    """Independent normal actions whose log std does not depend on the observation."""

    def __init__(
        self, config: GaussianConfig, sizes: EnvSizes | None = None, *, seed: int = 0
    ) -> None:
        """Build the networks.

        Raises:
            UsageError: neither ``config`` nor ``sizes`` has a width that is needed.
        """
        action_dim = known_size("action_dim", config.action_dim, sizes and sizes.action_dim)
        num_outputs = config.action_horizon * action_dim
        super().__init__(config, sizes, num_outputs=num_outputs, seed=seed)
        self.chunk_shape = (config.action_horizon, action_dim)  # (H, A)
        # continuous 1, continuous 2: normal actions, a state-independent log std
        self.log_std = nn.Parameter(torch.full((num_outputs,), config.log_std_init))
        self.to(config.device)

    def metadata(self) -> dict[str, Any]:
        """The sizes of observations and actions."""
        horizon, action_dim = self.chunk_shape
        return {
            "obs_dim": self.obs_dim,
            "action_dim": action_dim,
            "action_horizon": horizon,
            "num_choices": [],
        }

    def sample(
        self, inputs: torch.Tensor, *, deterministic: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions (n, H, A) and their log-probabilities (n,); the mean if ``deterministic``."""
        mean = self.actor(inputs)
        actions = mean
        if not deterministic:
            noise = torch.randn(mean.shape, generator=self.rng, device=mean.device)
            actions = torch.addcmul(mean, self.log_std.exp(), noise)
        # continuous 5: nothing is clipped here; what the env does to an action is its own matter
        return actions.view(-1, *self.chunk_shape), normal_log_prob(actions, mean, self.log_std)

    def evaluate(self, inputs: torch.Tensor, actions: torch.Tensor) -> Evaluation:
        """Judge (B, D) and (B, H, A)."""
        return Evaluation(
            normal_log_prob(actions.flatten(1), self.actor(inputs), self.log_std),
            normal_entropy(self.log_std),
            self.value(inputs),
        )

    def metrics(self) -> dict[str, float]:
        """The mean standard deviation of the actions."""
        return {"policy/action_std": self.log_std.detach().exp().mean().item()}


def normal_log_prob(x: torch.Tensor, mean: torch.Tensor, log_std: torch.Tensor) -> torch.Tensor:
    """Log-density of independent normals, summed over components (continuous 3).

        log p(x) = -1/2 sum_i ((x_i - mean_i) / std_i)^2 - sum_i log std_i - n/2 log 2 pi

    Args:
        x: (B, n)
        mean: (B, n)
        log_std: (n,)

    Returns:
        (B,)
    """
    z = (x - mean) * (-log_std).exp()
    return -0.5 * z.square().sum(-1) - (log_std.sum() + 0.5 * len(log_std) * _LOG_2PI)


def normal_entropy(log_std: torch.Tensor) -> torch.Tensor:
    """Entropy of independent normals, sum_i (1/2 + 1/2 log 2 pi + log std_i): (n,) -> ()."""
    return log_std.sum() + 0.5 * len(log_std) * (1 + _LOG_2PI)
