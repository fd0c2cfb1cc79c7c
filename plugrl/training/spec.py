"""All that a person chooses of a run, as plain data; knows no torch."""

from dataclasses import dataclass, field

from plugrl.config.base import AlgorithmConfig, EnvConfig, EnvSizes, PolicyConfig
from plugrl.config.server import RunConfig, ServerConfig, TrackConfig
from plugrl.runs.provenance import Provenance


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSpec:
    """What ``plugrl.training.run.build_run`` makes a run of."""

    policy: str
    """The policy's uid."""
    policy_variant: str = "default"
    policy_config: PolicyConfig
    algorithm: str
    """The algorithm's uid."""
    algorithm_variant: str = "default"
    algorithm_config: AlgorithmConfig
    env: str | None = None
    """The env's name, where a person gave one; complaints name it."""
    env_config: EnvConfig | None = None
    """The env's config, likewise; the run's record shows it."""
    sizes: EnvSizes | None = None
    """The env's sizes, where they are known."""
    server: ServerConfig = field(default_factory=ServerConfig)
    run: RunConfig = field(default_factory=RunConfig)
    track: TrackConfig = field(default_factory=TrackConfig)
    provenance: Provenance = field(default_factory=Provenance)
    """Who asked for the run and who answers for it."""
