"""Writes a run's records while its server lives; the server itself never waits for the disk.

One thread does all the writing. It wakes when something rare happens, and once a second to see
whether the status changed, less often while nothing does. What the disk refuses waits in memory:
training goes on.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from plugrl.errors import RunRecordError
from plugrl.runs import catalog, liveness, records
from plugrl.runs.files import append_text, clear_away
from plugrl.runs.pending import PendingLines
from plugrl.runs.provenance import Owner
from plugrl.runs.records import Checkpoint, Event, RunRecord, RunState, RunStatus

logger = logging.getLogger(__name__)

TICK_S = 1.0
"""Seconds between two looks at the server."""
IDLE_TICK_S = 5.0
"""The same while nothing happens: to be woken costs more than to look."""
HEARTBEAT_S = 10.0
"""Longest time between two writes of the status, so that readers know that somebody is there."""
CLOSE_TIMEOUT_S = 5.0
"""How long the last words may take when the disk refuses them."""
MAX_PENDING_EVENTS = 20_000
"""Events that wait while the disk refuses even the folder; the oldest give way."""


class Progress(NamedTuple):
    """What the server says of itself when it is asked."""

    phase: str
    step: int
    num_learns: int
    num_workers: int
    collecting: bool
    stopping: bool


class Ending(NamedTuple):
    """How a server ended."""

    state: RunState
    reason: str | None
    exit_code: int


class RunRecorder:
    """The records of one server, from its listening to its end.

    Events and log lines are taken from the first moment, and written once ``open`` has said that
    the folder is there.
    """

    def __init__(
        self, run_dir: Path, owner: Owner | None, progress: Callable[[], Progress]
    ) -> None:
        """Write nothing yet.

        Args:
            run_dir: the run's folder.
            owner: who answers for the run; None where this process does.
            progress: looks at the server; called from the recorder's thread.
        """
        self._run_dir = run_dir
        self._owner = owner
        self._progress = progress
        self._events: deque[Event] = deque(maxlen=MAX_PENDING_EVENTS)
        self._event_lines = PendingLines(run_dir / records.EVENTS_FILE)
        self._log = PendingLines(run_dir / records.LOG_FILE)
        self._record: RunRecord | None = None
        self._status = RunStatus(state=RunState.STARTING)
        self._written: RunStatus | None = None
        self._seen: Progress | None = None
        """What the latest status says of the server."""
        self._idle = False
        """Whether the latest look found nothing new."""
        self._announced = False
        self._checkpoint: Checkpoint | None = None
        self._ending: Ending | None = None
        self._woken = threading.Event()
        self._troubled = False
        self._thread = threading.Thread(target=self._run, name="run-records", daemon=True)

    def log(self, line: str, *, urgent: bool = False) -> None:
        """Take a log line; an urgent one is written at once."""
        self._log.add(f"{line}\n")
        if urgent:
            self._woken.set()

    def event(self, event: str, *, step: int | None = None, **details: Any) -> None:
        """Take an event of now; returns at once.

        Args:
            event: what happened.
            step: the server's, if None.
            **details: the event's own fields; those that are None are left out.
        """
        step = self._progress().step if step is None else step
        told = {name: value for name, value in details.items() if value is not None}
        self._events.append(Event(event=event, attempt=0, step=step, details=told))
        self._woken.set()

    def saved(self, checkpoint: Checkpoint) -> None:
        """Remember the newest checkpoint."""
        self._checkpoint = checkpoint
        self._woken.set()

    def open(self, record: RunRecord, url: str) -> None:
        """Begin to write: the folder is there, and the server listens at ``url``."""
        self._record = record
        self._status = replace(self._status, url=url, total_steps=record.total_steps)
        self._thread.start()

    def close(self, ending: Ending, *, timeout_s: float = 2 * CLOSE_TIMEOUT_S) -> None:
        """Write the last words; a disk that takes longer than its time is left behind."""
        if self._thread.ident is None:
            return
        self._ending = ending
        self._woken.set()
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.warning("the disk did not take the run's last records in time")

    def _run(self) -> None:
        try:
            self._begin()
            while self._ending is None:
                self._woken.wait(self._pause_s())
                rare = self._woken.is_set()
                self._woken.clear()
                self._write(now=rare)
            self._end()
        except Exception:
            # A mistake of ours in here must not reach training, which knows nothing of this thread.
            logger.exception("the run's records are not written any more")

    def _pause_s(self) -> float:
        until_due = self._status.updated_at + HEARTBEAT_S - time.time()
        return max(TICK_S, min(IDLE_TICK_S, until_due)) if self._idle else TICK_S

    def _begin(self) -> None:
        previous = self._previous()
        owner = self._owner
        pid, started, birth = os.getpid(), liveness.own_start(), liveness.own_birth()
        attempt = previous.attempt + 1 if previous else 1
        self._status = replace(
            self._status,
            attempt=attempt if owner is None else owner.attempt,
            host=liveness.this_host(),
            pid=pid if owner is None else owner.pid,
            pid_started=started if owner is None else owner.pid_started,
            pid_birth=birth if owner is None else owner.pid_birth,
            server_pid=pid,
            server_pid_started=started,
            server_pid_birth=birth,
            flow_run_id=None if owner is None else owner.flow_run_id,
            flow_run_url=None if owner is None else owner.flow_run_url,
        )
        if self._checkpoint is None and previous is not None:
            self._checkpoint = previous.last_checkpoint

    def _previous(self) -> RunStatus | None:
        try:
            return records.read_status(self._run_dir)
        except (OSError, RunRecordError):
            return None

    def _write(self, *, now: bool) -> None:
        """Write what is new; the status only where it differs, or to show that we are there."""
        progress = self._progress()
        due = time.time() - self._status.updated_at >= HEARTBEAT_S
        self._idle = progress == self._seen and not (now or self._troubled or self._log)
        if self._idle and not due:
            return
        self._seen = progress
        status = self._observe(progress)
        if now or due or status != self._written:
            status = replace(status, updated_at=time.time())
        self._status = status
        self._try(self._flush)

    def _observe(self, progress: Progress) -> RunStatus:
        state, reason = RunState.RUNNING, None
        if progress.stopping:
            state = RunState.STOPPING
        elif progress.collecting and progress.num_workers == 0:
            state, reason = RunState.WAITING, "no env client is connected"
        return replace(
            self._status,
            state=state,
            reason=reason,
            phase=progress.phase,
            step=progress.step,
            num_learns=progress.num_learns,
            last_checkpoint=self._checkpoint,
        )

    def _flush(self) -> None:
        self._announce()
        while self._events:
            event = replace(self._events.popleft(), attempt=self._status.attempt)
            self._event_lines.add(event.line())
        self._event_lines.flush()
        self._log.flush()
        if self._status != self._written:
            records.write_status(self._run_dir, self._status)
            self._written = self._status

    def _announce(self) -> None:
        if self._announced and (self._run_dir / records.RUN_FILE).exists():
            return  # else it is new, or somebody has deleted the folder under it
        assert self._record is not None, "open has said what the run is"
        records.write_run(self._run_dir, self._record)
        append_text(self._run_dir / records.LOG_FILE, self._mark())
        self._announced = True
        clear_away(self._run_dir)
        try:
            catalog.register(self._run_dir)
        except OSError as error:
            logger.warning("the run is not in the catalogue, commands need its folder: %s", error)

    def _mark(self) -> str:
        status = self._status
        return (
            f"==== attempt {status.attempt}, {time.strftime('%Y-%m-%d %H:%M:%S')}, "
            f"pid {status.server_pid}, {status.url} ====\n"
        )

    def _end(self) -> None:
        ending = self._ending
        assert ending is not None
        status = replace(self._observe(self._progress()), url=None, updated_at=time.time())
        if self._checkpoint is not None:
            # What was collected after it is gone with this process.
            status = replace(status, step=self._checkpoint.step)
        if self._answers():
            state, reason, exit_code = ending
            if self._owner is not None and state is RunState.STOPPED:
                reason = f"its supervisor (pid {self._owner.pid}) was gone; the server saved"
            status = replace(status, state=state, reason=reason, exit_code=exit_code)
        else:
            status = replace(status, state=RunState.STOPPING, reason=ending.reason)
        self._status = status
        deadline = time.monotonic() + CLOSE_TIMEOUT_S
        while not self._try(self._flush) and time.monotonic() < deadline:
            time.sleep(TICK_S / 4)

    def _answers(self) -> bool:
        """Whether the final record is ours: there is no supervisor, or it is gone."""
        owner = self._owner
        if owner is None:
            return True
        return not liveness.process_is(owner.pid, owner.pid_started, owner.pid_birth)

    def _try(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except OSError as error:
            if not self._troubled:
                self._troubled = True
                logger.error(
                    "THE RUN'S RECORDS ARE NOT WRITTEN: %s; they wait, and training goes on", error
                )
            return False
        self._troubled = False
        return True
