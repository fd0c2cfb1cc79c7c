"""A run from its folder: its records, metrics and log; and its server where it has one."""

import asyncio
import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from plugrl.errors import RunRecordError
from plugrl.runs.records import LOG_FILE, RUN_FILE, STATUS_FILE, read_run, read_status
from plugrl_tui.core.curves import METRICS_FILE, Curves
from plugrl_tui.core.feed import Access, FeedError
from plugrl_tui.core.feed_live import LiveFeed
from plugrl_tui.core.model import Link, Part, RunModel
from plugrl_tui.core.snapshot import LogLine
from plugrl_tui.core.tail import JsonTail, Tail

POLL_S = 0.5
ENDED_POLL_S = 2.0
"""A run that is over changes only when somebody resumes it."""
_LOG_START_BYTES = 256 * 1024
_LOG_LINE = re.compile(
    r"(?P<stamp>[-\d]*[ T]?\d\d:\d\d:\d\d\S*) "
    r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<text>.*)"
)


_FOLDER = "the folder"
"""Among the problems, in place of a file."""


class FolderFiles:
    """Reads what is new in a run's folder into a model."""

    def __init__(self, folder: Path) -> None:
        """Read the run in ``folder``."""
        self.folder = folder
        self._metrics = JsonTail(folder / METRICS_FILE)
        self._log = Tail(folder / LOG_FILE, from_end_bytes=_LOG_START_BYTES)
        self._stamps: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        """What can't be read, by file, until it can."""
        self._was_there = False

    def read_into(self, model: RunModel) -> bool:
        """Take what has changed; True where there is more to take at once."""
        self._look_for_folder(model)
        if self._changed(RUN_FILE):
            with self._telling_problems(RUN_FILE):
                model.record = read_run(self.folder)
            model.touch(Part.HEAD, Part.HOST)
        if self._changed(STATUS_FILE):
            with self._telling_problems(STATUS_FILE):
                model.status = read_status(self.folder)
            model.touch(Part.HEAD, Part.QUEUE, Part.LEARN, Part.HOST)
        with self._telling_problems(METRICS_FILE):
            self._read_metrics(model)
        with self._telling_problems(LOG_FILE):
            self._read_log(model)
        problems = tuple(self._problems.values())
        if problems != model.problems:
            model.problems = problems
            model.touch(Part.HEAD)
        return self._metrics.has_more

    def _look_for_folder(self, model: RunModel) -> None:
        """A run that is shown may be deleted by another app; then nothing of it can be resumed."""
        is_there = self.folder.is_dir()
        self._was_there = self._was_there or is_there
        if is_there or not self._was_there:
            model.folder = str(self.folder)
            self._problems.pop(_FOLDER, None)
        else:
            model.folder = ""
            self._problems[_FOLDER] = "its folder is gone: it was deleted or moved"

    def _read_log(self, model: RunModel) -> None:
        lines = self._log.lines()
        if lines and not model.log_from_files:
            # The file has all that the server has sent so far, too.
            model.log_from_files = True
            model.log.clear()
        if lines:
            model.add_log(map(_log_line, lines))

    def _read_metrics(self, model: RunModel) -> None:
        for line in self._metrics.objects():
            step = line.get("step")
            if not isinstance(step, int):
                continue
            if not model.curves_from_files:
                # Likewise; a server tells only about where its learns were.
                model.curves_from_files, model.curves = True, Curves()
            if line.get("event") in {"started", "resumed"}:
                model.curves.cut_after(step)
                model.touch(Part.CURVES)
            else:
                model.add_metrics(step, _number(line.get("time")), _metrics(line))

    def _changed(self, name: str) -> bool:
        try:
            stamp = (self.folder / name).stat().st_mtime_ns
        except OSError:
            return False
        before, self._stamps[name] = self._stamps.get(name), stamp
        return stamp != before

    @contextlib.contextmanager
    def _telling_problems(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            return  # it is not there yet, or the whole folder is gone, which is told of it
        except (OSError, RunRecordError) as error:
            self._problems[name] = str(error)
        else:
            self._problems.pop(name, None)


class FolderFeed:
    """A run's folder, and its server whenever its status names one."""

    def __init__(self, folder: Path, access: Access | None = None) -> None:
        """Watch the run in ``folder``."""
        self._files = FolderFiles(folder)
        self._access = access
        self._live: LiveFeed | None = None

    async def run(self, model: RunModel) -> None:
        """Feed ``model`` until cancelled; a final status may change again when it is resumed."""
        live: asyncio.Task[None] | None = None
        try:
            while True:
                more = self._files.read_into(model)
                url = model.status.url if model.status else None
                final = model.verdict().state.final
                over = final or url is None
                if live is not None and (live.done() or (over and model.link is not Link.LIVE)):
                    await _ended(live)
                    live = self._live = None
                    if over:
                        model.set_link(Link.NONE)
                if live is None and url is not None and not over:
                    self._live = LiveFeed(url, self._access)
                    live = asyncio.create_task(self._live.run(model))
                await asyncio.sleep(0 if more else ENDED_POLL_S if final else POLL_S)
        finally:
            if live is not None:
                await _ended(live)

    async def send(self, command: str) -> None:
        """Send a command to the run's server.

        Raises:
            FeedError: it has none now.
        """
        if self._live is None:
            raise FeedError("expected a server that listens, the run has none now")
        await self._live.send(command)

    def retry_now(self) -> None:
        """Connect at once."""
        if self._live is not None:
            self._live.retry_now()


async def _ended(task: "asyncio.Task[None]") -> None:
    """End a task; what it has failed with is raised here."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def _metrics(line: Mapping[str, Any]) -> dict[str, float | None]:
    return {
        name: value
        for name, value in line.items()
        if name not in {"step", "time", "event"}
        and (value is None or (isinstance(value, int | float) and not isinstance(value, bool)))
    }


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _log_line(line: str) -> LogLine:
    found = _LOG_LINE.match(line)
    if found is None:
        return LogLine(None, "", line)
    try:
        # The file tells the local time, with a comma before the milliseconds.
        time = datetime.fromisoformat(found["stamp"].replace(",", ".")).astimezone().timestamp()
    except ValueError:
        return LogLine(None, found["level"], f"{found['stamp']} {found['text']}")
    return LogLine(time, found["level"], found["text"])
