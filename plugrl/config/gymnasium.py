"""Config of Gymnasium envs: any id or ``module:EnvClass``, and short names with known sizes."""

from dataclasses import dataclass, field
from typing import Any, Literal

from plugrl.config.base import EnvConfig, EnvSizes, require


@dataclass(frozen=True, kw_only=True)
class GymnasiumEnvConfig(EnvConfig):
    """Any Gymnasium env, by its id or as ``module:EnvClass``; observations become states."""

    id: str = "Hopper-v5"
    """An id of Gymnasium's registry, or ``module:EnvClass``."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments for the env's constructor."""
    render_mode: str | None = None
    """Gymnasium's render mode; ``human`` opens a window. Recording videos sets ``rgb_array``."""
    action_bounds: Literal["clip", "rescale"] = "clip"
    """What happens to a Box action at the env: clipped to the bounds, or [-1, 1] rescaled to
    them. The learner keeps the raw action either way."""
    max_episode_steps: int | None = None
    """Steps after which an episode is truncated, in place of the id's own limit (it may be
    higher or lower); None keeps that."""

    def __post_init__(self) -> None:
        require(self, bool(self.id), "id", "an env id or module:EnvClass")
        limit = self.max_episode_steps
        require(self, limit is None or limit >= 1, "max_episode_steps", "at least 1, or none")

    def sizes(self) -> EnvSizes | None:
        """The sizes of a short name's env; None for any other id, and where kwargs may matter."""
        return None if self.kwargs else _SIZES.get(self.id)


_SIZES = {
    "Acrobot-v1": EnvSizes(obs_dim=6, action_dim=0, num_choices=(3,)),
    "Ant-v5": EnvSizes(obs_dim=105, action_dim=8),
    "CartPole-v1": EnvSizes(obs_dim=4, action_dim=0, num_choices=(2,)),
    "HalfCheetah-v5": EnvSizes(obs_dim=17, action_dim=6),
    "Hopper-v5": EnvSizes(obs_dim=11, action_dim=3),
    "Humanoid-v5": EnvSizes(obs_dim=348, action_dim=17),
    "InvertedDoublePendulum-v5": EnvSizes(obs_dim=9, action_dim=1),
    "InvertedPendulum-v5": EnvSizes(obs_dim=4, action_dim=1),
    "MountainCar-v0": EnvSizes(obs_dim=2, action_dim=0, num_choices=(3,)),
    "MountainCarContinuous-v0": EnvSizes(obs_dim=2, action_dim=1),
    "Pendulum-v1": EnvSizes(obs_dim=3, action_dim=1),
    "Pusher-v5": EnvSizes(obs_dim=23, action_dim=7),
    "Reacher-v5": EnvSizes(obs_dim=10, action_dim=2),
    "Swimmer-v5": EnvSizes(obs_dim=8, action_dim=2),
    "Walker2d-v5": EnvSizes(obs_dim=17, action_dim=6),
}

_IDS = {
    "acrobot": "Acrobot-v1",
    "ant": "Ant-v5",
    "cartpole": "CartPole-v1",
    "halfcheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "humanoid": "Humanoid-v5",
    "inverted-double-pendulum": "InvertedDoublePendulum-v5",
    "inverted-pendulum": "InvertedPendulum-v5",
    "mountain-car": "MountainCar-v0",
    "mountain-car-continuous": "MountainCarContinuous-v0",
    "pendulum": "Pendulum-v1",
    "pusher": "Pusher-v5",
    "reacher": "Reacher-v5",
    "swimmer": "Swimmer-v5",
    "walker2d": "Walker2d-v5",
}

VARIANTS = {"default": GymnasiumEnvConfig()}
SHORT_NAMES = {name: {"default": GymnasiumEnvConfig(id=id_)} for name, id_ in _IDS.items()}
