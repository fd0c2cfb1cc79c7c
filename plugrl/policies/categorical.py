"""The categorical policy for discrete actions.

Legend: n or B rows, D obs_dim, H action horizon, C components of an action, K choices.
"""

from typing import Any

import torch

from plugrl.config.base import EnvSizes
from plugrl.config.categorical import CategoricalConfig
from plugrl.policies.actor_critic import Evaluation, StateActorCritic, known_size


class CategoricalPolicy(StateActorCritic[CategoricalConfig]):
    """Independent categorical components: one for Discrete actions, several for MultiDiscrete."""

    def __init__(
        self, config: CategoricalConfig, sizes: EnvSizes | None = None, *, seed: int = 0
    ) -> None:
        """Build the networks.

        Raises:
            UsageError: neither ``config`` nor ``sizes`` has a size that is needed.
        """
        choices = known_size("num_choices", config.num_choices, sizes and sizes.num_choices)
        self._choices = list(choices) * config.action_horizon  # of each of H * C components
        super().__init__(config, sizes, num_outputs=sum(self._choices), seed=seed)
        self.chunk_shape = (config.action_horizon, len(choices))  # (H, C)
        self.to(config.device)

    def metadata(self) -> dict[str, Any]:
        """The sizes of observations and actions."""
        horizon, num_components = self.chunk_shape
        return {
            "obs_dim": self.obs_dim,
            "action_dim": num_components,
            "action_horizon": horizon,
            "num_choices": self._choices[:num_components],
        }

    def sample(
        self, inputs: torch.Tensor, *, deterministic: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions (n, H, C) int64 and their log-probabilities (n,); the mode if ``deterministic``.

        Sampling is a race: with independent exponential times q, the first of q_k / p_k is k with
        probability p_k.
        """
        logs = self._log_softmax(inputs)
        if deterministic:
            picks = [log.argmax(-1) for log in logs]
        else:
            picks = [
                (log - torch.empty_like(log).exponential_(generator=self.rng).log()).argmax(-1)
                for log in logs
            ]
        actions = torch.stack(picks, -1)
        return actions.view(-1, *self.chunk_shape), categorical_log_prob(logs, actions)

    def evaluate(self, inputs: torch.Tensor, actions: torch.Tensor) -> Evaluation:
        """Judge (B, D) and (B, H, C) int64."""
        logs = self._log_softmax(inputs)
        return Evaluation(
            categorical_log_prob(logs, actions.flatten(1)),
            categorical_entropy(logs),
            self.value(inputs),
        )

    def _log_softmax(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        """Log-probabilities of each component's choices: H * C tensors (B, K)."""
        logits = torch.split(self.actor(inputs), self._choices, dim=-1)
        return [component.log_softmax(-1) for component in logits]


def categorical_log_prob(logs: list[torch.Tensor], actions: torch.Tensor) -> torch.Tensor:
    """Log-probability of independent choices, summed over components.

    Args:
        logs: of each component's choices, (B, K).
        actions: (B, components) int64

    Returns:
        (B,)
    """
    picked = [
        log.gather(-1, action.unsqueeze(-1)) for log, action in zip(logs, actions.T, strict=True)
    ]
    return torch.cat(picked, -1).sum(-1)


def categorical_entropy(logs: list[torch.Tensor]) -> torch.Tensor:
    """Entropy of independent choices, -sum p log p over choices and components: (B,)."""
    return torch.stack([-(log.exp() * log).sum(-1) for log in logs]).sum(0)
