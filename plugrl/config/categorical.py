"""Config of the categorical policy for discrete actions."""

from dataclasses import dataclass

from plugrl.config.actor_critic import StateActorCriticConfig
from plugrl.config.base import require


@dataclass(frozen=True, kw_only=True)
class CategoricalConfig(StateActorCriticConfig):
    """Independent categorical components, beside a separate value network."""

    num_choices: tuple[int, ...] = ()
    """Choices of each action component; empty: taken from ``--env``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, all(c >= 2 for c in self.num_choices), "num_choices", "counts of at least 2")


VARIANTS = {"default": CategoricalConfig()}
