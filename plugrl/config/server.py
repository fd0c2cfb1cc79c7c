"""Config of the server, of tracking and of a run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from plugrl.config.base import require
from plugrl.errors import ConfigError

API_KEY_VARIABLE = "PLUGRL_API_KEY"
"""Environment variable that holds the key where the config has none."""

LAUNCH_ID_VARIABLE = "PLUGRL_LAUNCH_ID"
"""Environment variable by which a launch's server and env clients know each other."""

MAX_NAME_BYTES = 200
"""Length of a run's name."""

LogLevel = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, kw_only=True)
class LimitsConfig:
    """Bounds on what peers can make the server hold or wait for."""

    max_message_bytes: int = 2**30
    """Largest wire message; larger ones close the connection before memory is taken."""
    max_connections: int = 4096
    """Env clients and viewers at once."""
    max_envs_per_connection: int = 65_536
    """Envs that one connection may name."""
    max_held_bytes: int = 2**32
    """Observations of one connection whose actions still wait for feedback."""
    max_viewers: int = 64
    """Monitor viewers at once."""
    infer_wait_timeout_s: float = 10.0
    """How long the queue waits for a connected worker that asks for nothing."""
    stop_timeout_s: float = 30.0
    """How long a stop waits for the learn in progress before it is rolled back."""
    close_timeout_s: float = 2.0
    """How long a closing handshake may take."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            require(self, getattr(self, name) > 0, name, "more than 0")


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Where the server listens and what it demands of its peers."""

    host: str = "127.0.0.1"
    """Address to bind; any other than a loopback one wants a key."""
    port: int = 8000
    """Port to bind; 0 takes a free one and prints it."""
    mini_infer_batch_size: int | None = None
    """Infer once this many envs are queued; none waits for every connected worker."""
    feedback_wait_timeout: float = 60.0
    """Seconds in which feedback must follow an action, while the server is idle."""
    api_key: str | None = None
    """Key that peers must send; also read from PLUGRL_API_KEY."""
    auth: bool = True
    """Whether a bind beyond loopback demands a key."""
    tls_cert: Path | None = None
    """Certificate chain (PEM) to serve wss and https."""
    tls_key: Path | None = None
    """Private key (PEM) of the certificate."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """Bounds on what peers can cost."""

    def __post_init__(self) -> None:
        require(self, bool(self.host), "host", "an address, such as 0.0.0.0 for all")
        require(self, 0 <= self.port <= 65_535, "port", "0 to 65535")
        size = self.mini_infer_batch_size
        require(self, size is None or size >= 1, "mini_infer_batch_size", "at least 1, or none")
        require(self, self.feedback_wait_timeout > 0, "feedback_wait_timeout", "more than 0")
        require(
            self,
            (self.tls_cert is None) == (self.tls_key is None),
            "tls_key",
            "tls_cert and tls_key together",
        )


@dataclass(frozen=True, kw_only=True)
class TrackConfig:
    """Where metrics go in addition to the console and metrics.jsonl."""

    enabled: bool = False
    """Send metrics to the tracker too."""
    tracker: Literal["swanlab", "wandb", "tensorboard"] = "tensorboard"
    """Which tracker."""
    project: str = "plugrl"
    """The tracker's project."""
    mode: Literal["online", "offline"] = "online"
    """Whether SwanLab and W&B talk to their servers."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Seeds, folders and logs of a run."""

    seed: int = 0
    """Seeds Python, NumPy and, where the run's modules import it, torch before all is built."""
    num_threads: int = 1
    """Threads of torch on the CPU; one is fastest for small networks."""
    checkpoint_base_dir: Path = Path("checkpoints")
    """Folder of all checkpoints."""
    exp_name: str | None = None
    """Name of the run; none makes a new one from the time."""
    resume: bool = False
    """Go on from the newest valid checkpoint of exp_name."""
    overwrite: bool = False
    """Delete the folder of exp_name first, if there is one."""
    keep_last: int = 3
    """Checkpoints to keep beside the best one."""
    log_level: LogLevel = "info"
    """Least level of the log lines shown."""

    def __post_init__(self) -> None:
        require(self, 1 <= self.num_threads <= 2**16, "num_threads", "1 to 65536")
        require(self, 0 <= self.seed < 2**32, "seed", "0 to 4294967295")
        require(self, self.keep_last >= 1, "keep_last", "at least 1")
        require(self, not (self.resume and self.overwrite), "overwrite", "no overwrite with resume")
        name = self.exp_name
        plain = name is None or (
            name not in {"", ".", ".."} and not set("/\\") & set(name) and name == name.strip()
        )
        require(self, plain, "exp_name", "a plain folder name")
        # Beside the folder there are files of its name with an ending; a file's name has 255 bytes.
        short = name is None or (name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES)
        require(self, short, "exp_name", f"printable signs, {MAX_NAME_BYTES} bytes at most")
        if self.resume and name is None:
            raise ConfigError(
                "expected --exp-name NAME beside --resume, got none",
                config="RunConfig",
                field="resume",
            )
