"""What the configs of policies with an actor and a critic over states have in common."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plugrl.config.base import PolicyConfig, require


@dataclass(frozen=True, kw_only=True)
class StateActorCriticConfig(PolicyConfig):
    """Two perceptrons over all states of an observation."""

    capabilities: ClassVar[frozenset[str]] = frozenset({"log_prob", "value"})

    obs_dim: int = 0
    """Width of all states concatenated in the order of their names; 0: taken from ``--env``."""
    action_horizon: int = 1
    """Steps in an action chunk, H."""
    hidden_sizes: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers of the actor and of the critic."""
    activation: Literal["tanh", "relu", "elu", "silu"] = "tanh"
    """Nonlinearity of the hidden layers."""
    normalize_obs: bool = True
    """Scale observations by running moments, which stand still over rollout and update."""
    clip_obs: float = 10.0
    """Bound of a normalised observation's components."""

    def __post_init__(self) -> None:
        require(self, self.obs_dim >= 0, "obs_dim", "at least 0")
        require(self, self.action_horizon >= 1, "action_horizon", "at least 1")
        require(
            self, all(h >= 1 for h in self.hidden_sizes), "hidden_sizes", "widths of at least 1"
        )
        require(self, self.clip_obs > 0, "clip_obs", "more than 0")
