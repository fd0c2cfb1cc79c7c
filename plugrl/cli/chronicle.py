"""The supervisor's half of a run's folder: attempts, crashes, and how it all ended.

While a server lives, the server writes ``status.json``; between two of them and at the end it is
the supervisor's. Trouble with the disk never ends a run: it is logged, once. All writing is done in
a thread, which is waited for, but not for ever.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plugrl.cli.disk_thread import DiskThread
from plugrl.cli.supervision import Ending, Onlooker, Outcome
from plugrl.errors import RunRecordError
from plugrl.runs import records
from plugrl.runs.records import Event, RunState

logger = logging.getLogger(__name__)

WRITE_TIMEOUT_S = 5.0
"""How long a record may keep the supervisor; a disk that hangs for longer is left behind."""
LATEST_EVENTS = 3
"""Where the server tells its end, if it gets to that."""

STATES = {
    Outcome.DONE: RunState.DONE,
    Outcome.STOPPED: RunState.STOPPED,
    Outcome.REFUSED: RunState.FAILED,
    Outcome.FAILED: RunState.FAILED,
}


class Chronicle(Onlooker):
    """Writes what a supervisor knows of a run."""

    def __init__(self, run_dir: Path) -> None:
        """Write to ``run_dir``, once a server has made it."""
        self._run_dir = run_dir
        self._before = self._attempts_before()
        self._listened = False
        self._crashed: str | None = None
        """Why the last attempt ended, where another one follows it."""
        self._complained = False
        self._disk = DiskThread()

    def number(self, attempt: int) -> int:
        """The number in this folder of this supervisor's ``attempt``."""
        return self._before + attempt

    async def begins(self, attempt: int) -> None:
        """A server is about to be started."""
        if self._listened:
            number = self.number(attempt)
            reason = self._crashed and f"{self._crashed}; attempt {number} is starting"
            await self._write(
                lambda: self._update(
                    state=RunState.STARTING, attempt=number, reason=reason, phase="starting"
                )
            )

    def listening(self, attempt: int, url: str) -> None:
        """A server listens: the folder is there, and ours."""
        self._listened = True

    async def ended(self, ending: Ending, *, pause_s: float | None) -> None:
        """An attempt has ended; another follows after ``pause_s``, if that is not None."""
        self._crashed = ending.reason
        if self._listened:
            await self._write(lambda: self._record_end(ending, pause_s))

    async def _write(self, write: Callable[[], None]) -> None:
        """Have ``write`` done in the thread, within limits."""
        _, late = await asyncio.wait((self._disk.do(write),), timeout=WRITE_TIMEOUT_S)
        if late:
            self._complain(f"the disk takes longer than {WRITE_TIMEOUT_S:g} s")

    def _record_end(self, ending: Ending, pause_s: float | None) -> None:
        if ending.outcome is Outcome.FAILED:
            self._append(
                "crashed", ending, why=ending.reason, exit_code=ending.exit_code, pause_s=pause_s
            )
        gone = dict.fromkeys(("server_pid", "server_pid_started", "server_pid_birth", "url"))
        if pause_s is not None:
            self._update(state=RunState.WAITING, phase="", reason=ending.reason, **gone)
            return
        self._append_unless_there(STATES[ending.outcome].value.lower(), ending)
        self._update(
            state=STATES[ending.outcome],
            reason=ending.reason,
            exit_code=ending.exit_code,
            **gone,
        )

    def _attempts_before(self) -> int:
        return records.next_attempt(self._run_dir) - 1

    def _append_unless_there(self, name: str, ending: Ending) -> None:
        if not self._has_told(name, self.number(ending.attempt)):
            self._append(name, ending, **({} if ending.reason is None else {"why": ending.reason}))

    def _has_told(self, name: str, number: int) -> bool:
        """Whether the server has told its end."""
        try:
            latest = records.read_events(self._run_dir)[-LATEST_EVENTS:]
        except OSError:
            # Told twice is better than not at all, and whoever tells it meets the same trouble.
            return False
        return any(event.event == name and event.attempt == number for event in latest)

    def _append(self, name: str, ending: Ending, **details: Any) -> None:
        def write() -> None:
            step = records.read_status(self._run_dir).step
            event = Event(
                event=name, attempt=self.number(ending.attempt), step=step, details=details
            )
            records.append_event(self._run_dir, event)

        self._try(write)

    def _update(self, **changes: Any) -> None:
        self._try(lambda: records.update_status(self._run_dir, **changes))

    def _try(self, write: Callable[[], object]) -> None:
        try:
            write()
        except (OSError, RunRecordError) as error:
            self._complain(error)

    def _complain(self, why: object) -> None:
        if not self._complained:
            logger.error("THE RUN'S RECORD IS NOT WRITTEN: %s", why)
        self._complained = True
