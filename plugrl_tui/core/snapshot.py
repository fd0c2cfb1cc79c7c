"""What a server's ``/monitor`` sends, checked once and given names.

The form is version 1 of ``plugrl/server/telemetry.py``. Keys that are unknown here are skipped, so
that a newer server can say more; keys that an older one does not send yet have a default.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from plugrl.errors import PlugRLError

VERSION = 1


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
    try:
        return _snapshot(message)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"expected a snapshot of version {VERSION}, but {error!r}") from error


def _snapshot(message: Mapping[str, Any]) -> Snapshot:
    queue = message["infer_queue"]
    learn = message["learn"]
    return Snapshot(
        time=float(message["time"]),
        run=_known(Run, message["run"]),
        phase=str(message["phase"]),
        stopping=bool(message.get("stopping", message["phase"] == "stopping")),
        process=_known(Process, message.get("process") or {}),
        counters=_known(Counters, message["counters"]),
        queue=_known(InferQueue, queue)._replace(
            missing=tuple(queue["missing"]),
            batch_sizes=tuple(queue["batch_sizes"]),
            wait=_percentiles(queue["wait_seconds"]),
            infer=_percentiles(queue["infer_seconds"]),
        ),
        workers=tuple(_known(Worker, worker) for worker in message["workers"]),
        learn=None if learn is None else _known(Learn, learn),
        metrics=message["metrics"],
        checkpoints=tuple(_known(Checkpoint, each) for each in message["checkpoints"]),
        log_lines=message.get("log_lines"),
        log=tuple(_known(LogLine, line) for line in message["log"]),
    )


def _percentiles(data: Mapping[str, float] | None) -> Percentiles | None:
    return None if data is None else _known(Percentiles, data)


def _known(form: Any, data: Mapping[str, Any]) -> Any:
    return form(**{name: data[name] for name in form._fields if name in data})
