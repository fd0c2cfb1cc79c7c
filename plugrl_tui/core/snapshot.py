"""What a server's ``/monitor`` sends, checked once and given names.

The form is version 1 of ``plugrl/server/telemetry.py``. Keys that are unknown here are skipped, so
that a newer server can say more; keys that an older one does not send yet have a default.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from plugrl.errors import PlugRLError
from plugrl_tui.core.sent import FormError, read

VERSION = 1
_SENT_AS = {"queue": "infer_queue", "wait": "wait_seconds", "infer": "infer_seconds"}
"""Fields that have a longer name in what is sent."""


class SnapshotError(PlugRLError):
    """What came is no snapshot that this version can show."""


class Percentiles(NamedTuple):
    """Of the latest waits, in seconds."""

    p50: float
    p95: float
    max: float


class InferQueue(NamedTuple):
    """Who has asked for actions, and who is waited for."""

    requests: int = 0
    envs: int = 0
    threshold_envs: int | None = None
    threshold_requests: int | None = None
    oldest_wait_seconds: float = 0.0
    batches: int | None = None
    envs_taken: int | None = None
    missing: tuple[int, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    wait: Percentiles | None = None
    infer: Percentiles | None = None


class Worker(NamedTuple):
    """One connected env client."""

    id: int
    address: str
    state: str
    state_seconds: float
    envs: int
    frames_kept: int
    discarded: Mapping[str, int]
    frames_per_second: float
    """Mean since it connected."""
    step_seconds: float
    connected_seconds: float
    episodes: int
    return_mean: float | None


class Counters(NamedTuple):
    """Since the server started, but for the first two."""

    global_step: int = 0
    num_learns: int = 0
    frames_kept: int = 0
    frames_discarded: int = 0
    discarded: Mapping[str, int] = {}
    checkpoints_failed: int = 0
    uptime_seconds: float = 0.0
    steps_per_second: float = 0.0
    """Frames kept, as a mean."""
    frames_per_second: float | None = None
    """All frames, as a mean; None from a server that does not tell."""


class Learn(NamedTuple):
    """The learn that runs now."""

    epoch: int
    num_epochs: int
    minibatch: int
    num_minibatches: int
    seconds: float


class Process(NamedTuple):
    """The server's process."""

    pid: int | None = None
    host: str = ""
    cpu_seconds: float | None = None
    rss_bytes: int | None = None


class Checkpoint(NamedTuple):
    """One on the server's disk."""

    path: str
    step: int
    bytes: int
    seconds: float


class LogLine(NamedTuple):
    """One line of a log."""

    time: float | None
    """Seconds since 1970, or None where only the text is known."""
    level: str
    text: str


class Run(NamedTuple):
    """Who the run is."""

    exp_name: str = ""
    policy: str = ""
    policy_variant: str = ""
    algorithm: str = ""
    algorithm_variant: str = ""
    total_steps: int | None = None
    run_dir: str = ""
    start_step: int = 0
    plugrl_version: str = ""
    env: str | None = None
    """Its name, where the server was given one."""


class Snapshot(NamedTuple):
    """All that a server tells of itself at one moment."""

    time: float
    run: Run
    phase: str
    stopping: bool
    process: Process
    counters: Counters
    queue: InferQueue
    workers: tuple[Worker, ...]
    learn: Learn | None
    metrics: Mapping[str, float | None]
    checkpoints: tuple[Checkpoint, ...]
    log_lines: int | None
    log: tuple[LogLine, ...]


class Reply(NamedTuple):
    """What the server answers to a command."""

    accepted: str = ""
    error: str = ""


def parse(text: str | bytes) -> Snapshot | Reply:
    """What one message of ``/monitor`` says.

    Raises:
        SnapshotError: it is of another version, or of no form known here.
    """
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"expected JSON from /monitor, got {text[:40]!r}") from error
    if not isinstance(message, dict):
        raise SnapshotError(f"expected an object from /monitor, got {type(message).__name__}")
    if "accepted" in message or "error" in message:
        return Reply(str(message.get("accepted", "")), str(message.get("error", "")))
    return parse_message(message)


def parse_message(message: Mapping[str, Any]) -> Snapshot:
    """What a decoded snapshot says.

    Raises:
        SnapshotError: it is of another version, or of no form known here.
    """
    version = message.get("version")
    if version != VERSION:
        raise SnapshotError(
            f"expected snapshot version {VERSION}, got {version!r}: this plugrl-tui and the server "
            "are of different versions; install the same plugrl on both"
        )
    phase = message.get("phase")
    filled = {"stopping": phase == "stopping", "log_lines": None, **message}
    filled["process"] = message.get("process") or {}
    try:
        return read(Snapshot, filled, _SENT_AS)
    except FormError as error:
        raise SnapshotError(f"not a snapshot of version {VERSION}: {error}") from error
