"""Config of an env client: where it connects, how many envs it runs and for how long."""

from dataclasses import dataclass
from pathlib import Path

from plugrl.config.base import require
from plugrl.config.server import LogLevel

MAX_WAIT_S = 1e9
"""Sockets take no longer timeouts than clocks can count."""


@dataclass(frozen=True, kw_only=True)
class ClientConfig:
    """How an env client meets the server and how long it stays."""

    server_host: str = "127.0.0.1"
    """Address of the server, HOST:PORT, or a whole ws:// or wss:// URL."""
    server_port: int = 8000
    """Port of the server, where its address has none."""
    api_key: str | None = None
    """Key to send; also read from PLUGRL_API_KEY."""
    tls_ca: Path | None = None
    """Certificates (PEM) to trust for wss; none trusts the system's."""
    num_envs: int = 1
    """Envs in each process, stepped together over one connection."""
    num_procs: int = 1
    """Processes, each with a connection of its own."""
    num_episodes: int | None = None
    """Episodes after which each process leaves; none runs until the server stops."""
    replan_steps: int | None = None
    """Steps of an action chunk to run before asking again; none runs the whole chunk."""
    seed: int = 0
    """Seed of the first env; every env of every process has its own."""
    reuse_feedback_obs: bool = True
    """Send each observation once, where the server offers it."""
    receive_timeout_s: float = 4 * 3600.0
    """Silence, or a send of which nothing is taken, after which the server is taken for dead; a
    learn may last an hour."""
    connect_timeout_s: float = 10.0
    """How long one connection attempt may take in all: TCP, TLS and the handshake."""
    close_timeout_s: float = 2.0
    """How long a closing handshake may take."""
    max_message_bytes: int = 2**30
    """Largest wire message taken from the server."""
    retry_first_s: float = 0.5
    """Pause before the first reconnect; doubles, with jitter."""
    retry_max_s: float = 15.0
    """Longest pause between two reconnects."""
    retry_limit: int = 40
    """Attempts in a row that may fail before the client gives up."""
    video_every: int = 0
    """Record every N-th episode of the first env; 0: none."""
    video_dir: Path = Path("videos")
    """Folder of the videos."""
    log_level: LogLevel = "info"
    """Least level of the log lines shown."""

    def __post_init__(self) -> None:
        for name in ("num_envs", "num_procs", "retry_limit", "max_message_bytes"):
            require(self, getattr(self, name) >= 1, name, "at least 1")
        for name in ("num_episodes", "replan_steps"):
            value = getattr(self, name)
            require(self, value is None or value >= 1, name, "at least 1, or none")
        for name in (
            "receive_timeout_s",
            "connect_timeout_s",
            "close_timeout_s",
            "retry_first_s",
            "retry_max_s",
        ):
            value = getattr(self, name)
            require(self, 0 < value <= MAX_WAIT_S, name, "seconds, more than 0 and at most 1e9")
        require(self, 1 <= self.server_port <= 65_535, "server_port", "1 to 65535")
        require(self, self.video_every >= 0, "video_every", "at least 0")
        require(self, self.seed >= 0, "seed", "at least 0")


@dataclass(frozen=True, kw_only=True)
class LocalClients:
    """The env clients beside the server; ``ClientConfig`` checks the other values."""

    num_procs: int = 1
    """Processes that run envs; 0 waits for env clients that are started elsewhere."""
    num_envs: int = 1
    """Envs in each process."""
    replan_steps: int | None = None
    """Steps of an action chunk to run before asking again; none runs the whole chunk."""
    video_every: int = 0
    """Record every N-th episode of the first env; 0: none."""
    video_dir: Path = Path("videos")
    """Folder of the videos."""

    def __post_init__(self) -> None:
        require(self, self.num_procs >= 0, "num_procs", "at least 0")
