"""Config of the categorical policy for discrete actions."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plugrl.config.base import PolicyConfig, require


@dataclass(frozen=True, kw_only=True)
class CategoricalConfig(PolicyConfig):
    """Independent categorical components, beside a separate value network."""

    capabilities: ClassVar[frozenset[str]] = frozenset({"log_prob", "value"})

    obs_dim: int = 0
    """Width of all states concatenated in the order of their names; 0: taken from ``--env``."""
    num_choices: tuple[int, ...] = ()
    """Choices of each action component; empty: taken from ``--env``."""
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
        require(self, all(c >= 2 for c in self.num_choices), "num_choices", "counts of at least 2")
        require(
            self, all(h >= 1 for h in self.hidden_sizes), "hidden_sizes", "widths of at least 1"
        )
        require(self, self.clip_obs > 0, "clip_obs", "more than 0")


VARIANTS = {"default": CategoricalConfig()}
