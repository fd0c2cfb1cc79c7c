"""Config of the probe env of the wire protocol's conformance tests."""

from dataclasses import dataclass

from plugrl.config.base import EnvConfig, EnvSizes, require

DEFAULT_ACTION_DIM = 7


@dataclass(frozen=True, kw_only=True)
class ProbeEnvConfig(EnvConfig):
    """Env i of a vector has episodes of 3 + 2 (i mod 3) steps and pays 1 a step."""

    action_dim: int | None = None
    """Width of the actions it expects, and of ``states.a``, which repeats the last one; none
    takes the server's, or 7 until that is known."""

    def __post_init__(self) -> None:
        require(
            self,
            self.action_dim is None or self.action_dim >= 1,
            "action_dim",
            "at least 1, or none",
        )

    def sizes(self) -> EnvSizes:
        """The last action and the step count."""
        action_dim = self.action_dim or DEFAULT_ACTION_DIM
        return EnvSizes(obs_dim=action_dim + 1, action_dim=action_dim)


VARIANTS = {"default": ProbeEnvConfig()}
