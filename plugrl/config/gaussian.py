"""Config of the Gaussian policy for continuous actions."""

from dataclasses import dataclass

from plugrl.config.actor_critic import StateActorCriticConfig
from plugrl.config.base import require


@dataclass(frozen=True, kw_only=True)
class GaussianConfig(StateActorCriticConfig):
    """Normal actions with a state-independent log std, beside a separate value network."""

    action_dim: int = 0
    """Width of an action; 0: taken from ``--env``."""
    log_std_init: float = 0.0
    """Where the log standard deviation starts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, self.action_dim >= 0, "action_dim", "at least 0")
        require(self, abs(self.log_std_init) < float("inf"), "log_std_init", "a finite number")


VARIANTS = {"default": GaussianConfig()}
