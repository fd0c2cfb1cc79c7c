"""Config of the probe env of the wire protocol's conformance tests."""

from dataclasses import dataclass

from plugrl.config.base import EnvConfig, EnvSizes, require


@dataclass(frozen=True, kw_only=True)
class ProbeEnvConfig(EnvConfig):
    """Env i of a vector has episodes of 3 + 2 (i mod 3) steps and pays 1 a step."""

    action_dim: int = 7
    """Width of the actions it expects, and of ``states.a``, which repeats the last one."""

    def __post_init__(self) -> None:
        require(self, self.action_dim >= 1, "action_dim", "at least 1")

    def sizes(self) -> EnvSizes:
        """The last action and the step count."""
        return EnvSizes(obs_dim=self.action_dim + 1, action_dim=self.action_dim)


VARIANTS = {"default": ProbeEnvConfig()}
