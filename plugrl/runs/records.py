"""The files of a run's folder: what the run is, how it is, and what happened to it.

``run.json`` is written when the run begins and when it is resumed; ``status.json`` whenever
something changes, by one process at a time; ``events.jsonl`` grows by a line an event.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from plugrl.errors import RunRecordError
from plugrl.runs.fields import from_fields
from plugrl.runs.files import append_text, plain, read_json, write_json

logger = logging.getLogger(__name__)

VERSION = 1
RUN_FILE = "run.json"
STATUS_FILE = "status.json"
EVENTS_FILE = "events.jsonl"
LOG_FILE = "log.txt"


class RunState(StrEnum):
    """How a run is."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    """For env clients, or for the next attempt."""
    STOPPING = "STOPPING"
    DONE = "DONE"
    """The algorithm has all it wanted."""
    STOPPED = "STOPPED"
    """Somebody asked; it can be resumed."""
    FAILED = "FAILED"
    STALLED = "STALLED"
    """Never written: its process lives and is silent."""
    LOST = "LOST"
    """Never written: its process is gone without a final record."""

    @property
    def final(self) -> bool:
        """Whether nothing follows unless somebody resumes the run."""
        return self in {RunState.DONE, RunState.STOPPED, RunState.FAILED}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint on disk."""

    path: str
    step: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """``run.json``: what a run is; told once."""

    exp_name: str
    policy: str
    policy_variant: str
    algorithm: str
    algorithm_variant: str
    env: str | None = None
    """The env's name, where a person gave one."""
    argv: tuple[str, ...] = ()
    """The command that a person can type again; never a key."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """``policy``, ``algo``, ``env``, ``server``, ``run``, ``track``, ``clients`` as plain JSON."""
    seed: int = 0
    total_steps: int | None = None
    """Frames after which the run is done, where there is such a number."""
    created_at: float = field(default_factory=time.time)
    """Seconds since the epoch; a resume keeps it."""
    parent_checkpoint: str | None = None
    """The step folder of another run that this one began from."""
    versions: Mapping[str, str] = field(default_factory=dict)
    version: int = VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """``status.json``: how a run is."""

    state: RunState
    phase: str = ""
    """What the server does, in the words of its telemetry."""
    reason: str | None = None
    """A sentence: why it waits, starts again, stopped or failed."""
    step: int = 0
    total_steps: int | None = None
    num_learns: int = 0
    attempt: int = 1
    """Servers started in this folder so far, this one included."""
    host: str = ""
    """The machine whose processes these are."""
    pid: int | None = None
    """Who answers for the run: its supervisor, or the server where there is none."""
    pid_started: float | None = None
    """When that process began, seconds since the epoch, for people."""
    pid_birth: str | None = None
    """The same as no clock can change it, see ``plugrl.runs.liveness.birth_of``: tells a pid that
    was used again. Where it is None, ``pid_started`` has to."""
    server_pid: int | None = None
    server_pid_started: float | None = None
    server_pid_birth: str | None = None
    url: str | None = None
    """Where the server listens, while it does."""
    last_checkpoint: Checkpoint | None = None
    exit_code: int | None = None
    updated_at: float = field(default_factory=time.time)
    flow_run_id: str | None = None
    flow_run_url: str | None = None
    version: int = VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A line of ``events.jsonl``."""

    event: str
    """What happened, such as ``worker_joined``; the page on the run folder lists all."""
    attempt: int
    step: int
    time: float = field(default_factory=time.time)
    details: Mapping[str, Any] = field(default_factory=dict)
    """The event's own fields."""

    def line(self) -> str:
        """As written to the file."""
        own = ("time", "event", "attempt", "step")
        head = {"time": round(self.time, 3), **{name: getattr(self, name) for name in own[1:]}}
        details = {name: v for name, v in self.details.items() if name not in own}
        return json.dumps(plain({**head, **details}), allow_nan=False) + "\n"


def write_run(run_dir: Path, record: RunRecord) -> None:
    """Write ``run.json``; a record of the same folder keeps its ``created_at``.

    Raises:
        OSError: it can't be written.
    """
    try:
        record = replace(record, created_at=read_run(run_dir).created_at)
    except FileNotFoundError:
        logger.debug("%s has no record yet", run_dir)
    except RunRecordError as error:
        logger.warning("when the run was created is lost, its record is written anew: %s", error)
    write_json(run_dir / RUN_FILE, record)


def read_run(run_dir: Path) -> RunRecord:
    """Read ``run.json``.

    Raises:
        FileNotFoundError: there is none.
        RunRecordError: it is damaged, or of another version.
    """
    return from_fields(RunRecord, read_json(run_dir / RUN_FILE), run_dir / RUN_FILE)


def write_status(run_dir: Path, status: RunStatus) -> None:
    """Write ``status.json``.

    Raises:
        OSError: it can't be written; the old one stands.
    """
    write_json(run_dir / STATUS_FILE, status)


def read_status(run_dir: Path) -> RunStatus:
    """Read ``status.json``.

    Raises:
        FileNotFoundError: there is none.
        RunRecordError: it is damaged, or of another version.
    """
    return from_fields(RunStatus, read_json(run_dir / STATUS_FILE), run_dir / STATUS_FILE)


def update_status(run_dir: Path, **changes: Any) -> RunStatus:
    """Change some fields of ``status.json``, and ``updated_at``; for the one who may write it now.

    Raises:
        FileNotFoundError: there is no status yet; the first is written by ``write_status``.
        RunRecordError: it is damaged.
        OSError: it can't be written.
    """
    status = replace(read_status(run_dir), **{"updated_at": time.time(), **changes})
    write_status(run_dir, status)
    return status


def next_attempt(run_dir: Path) -> int:
    """The number of the next server in this folder; 1 where there was none."""
    try:
        return read_status(run_dir).attempt + 1
    except (FileNotFoundError, RunRecordError):
        return 1


def append_event(run_dir: Path, event: Event) -> None:
    """Add a line to ``events.jsonl``.

    Raises:
        OSError: it can't be written.
    """
    append_text(run_dir / EVENTS_FILE, event.line())


def read_events(run_dir: Path) -> list[Event]:
    """All whole lines of ``events.jsonl``, in order; lines that a kill left broken are left out.

    Raises:
        OSError: the file is there and can't be read.
    """
    try:
        text = (run_dir / EVENTS_FILE).read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    return [event for line in text.splitlines() if (event := parse_event(line)) is not None]


def parse_event(line: str) -> Event | None:
    """The event on one line; None where the line is broken."""
    try:
        data = json.loads(line)
        return Event(
            time=float(data.pop("time")),
            event=str(data.pop("event")),
            attempt=int(data.pop("attempt")),
            step=int(data.pop("step")),
            details=data,
        )
    except (ValueError, OverflowError, KeyError, AttributeError, TypeError, RecursionError):
        return None
