"""Every run that this machine knows of, as RUNS shows it: read from the folders, cheaply again."""

import math
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plugrl.errors import RunRecordError
from plugrl.runs import catalog, records
from plugrl.runs.catalog import FoundRun, SkippedRun
from plugrl.runs.home import home
from plugrl.runs.liveness import observed_state, on_this_host, owner_lives
from plugrl.runs.moments import duration
from plugrl.runs.records import RUN_FILE, STATUS_FILE, RunState
from plugrl_tui.core.curves import METRICS_FILE, RETURN
from plugrl_tui.core.format import grouped
from plugrl_tui.core.tail import JsonTail

_EVALUATION = "eval"
"""The algorithm that trains nothing: there is nothing to resume, and no form for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRow:
    """A run at one moment."""

    run: FoundRun
    state: RunState
    reason: str
    """Why it is so, in a sentence; empty where there is nothing to say."""
    advice: str
    """What to do about it; names keys of RUNS."""
    returns: tuple[float, ...]
    """Mean episode returns, in the order of the learns."""
    errors: tuple[str, ...] = ()
    """Crashes so far, the latest last."""

    @property
    def name(self) -> str:
        """The run's own name."""
        return self.run.record.exp_name

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.run.path

    @property
    def where(self) -> str:
        """What remembers it."""
        return "folder"

    @property
    def page(self) -> str | None:
        """Its page of Prefect, where it has one."""
        return self.run.status.flow_run_url if self.run.status else None

    @property
    def step(self) -> int:
        """Frames learned from."""
        return self.run.status.step if self.run.status else 0

    @property
    def last_return(self) -> float | None:
        """The latest mean episode return."""
        return self.returns[-1] if self.returns else None

    @property
    def lives(self) -> bool:
        """Whether the process that answers for it is there."""
        status = self.run.status
        return not self.state.final and status is not None and self.state is not RunState.LOST

    def has_process(self) -> bool:
        """Whether a process answers for it at this moment; it may have been resumed meanwhile."""
        try:
            status = records.read_status(self.path)
        except (FileNotFoundError, RunRecordError):
            return False
        if on_this_host(status):
            return owner_lives(status)
        # Another machine's processes can't be seen: what it has said lately counts.
        state = observed_state(status, time.time())
        return not state.final and state is not RunState.STALLED

    @property
    def lineage(self) -> str | None:
        """``from hopper-s1 @ 614,400``, where it began from another run's checkpoint."""
        parent = self.run.record.parent_checkpoint
        if parent is None:
            return None
        folder = Path(parent)
        step = grouped(int(folder.name)) if folder.name.isdigit() else folder.name
        return f"from {folder.parent.name} @ {step}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """All runs at one moment."""

    rows: tuple[RunRow, ...] = ()
    """The newest first."""
    skipped: tuple[SkippedRun, ...] = ()
    """Folders that can't be read, and why."""

    def summary(self, *, num_only_in_prefect: int = 0) -> str:
        """How many runs there are, or which were left out and why; empty where there are none."""
        if self.skipped:
            first = self.skipped[0]
            more = f" and {len(self.skipped) - 1} more" if len(self.skipped) > 1 else ""
            # The remedy has more need of the room than the path.
            remedy = "the folder is gone; plugrl-flow list --forget-gone"
            return f"left out {first.path.name}{more}: {remedy if first.gone else first.reason}"
        number = len(self.rows) + num_only_in_prefect
        living = sum(row.lives for row in self.rows)
        only = f", {num_only_in_prefect} only in Prefect" if num_only_in_prefect else ""
        if number == 1:
            return f"1 run{', live' if living else ''}{only}"
        return f"{number} runs, {living} of them live{only}" if number else ""


class History:
    """Reads the catalogue again and again; what did not change costs a look at its files' times."""

    def __init__(self) -> None:
        """Have read nothing."""
        self._returns: dict[Path, _Returns] = {}
        self._listing = Listing()
        self._stamps: tuple[int, ...] = ()
        self._reading = threading.Lock()

    def read(self, now: float | None = None) -> Listing:
        """All runs as they are now; call it in a thread, or in several.

        Raises:
            OSError: the catalogue can't be read.
        """
        with self._reading:
            return self._read(time.time() if now is None else now)

    def _read(self, now: float) -> Listing:
        stamps = self._look()
        if stamps != self._stamps or not self._stamps:
            found = catalog.find_runs()
            here = {run.path for run in found.found}
            self._returns = {path: each for path, each in self._returns.items() if path in here}
            rows = tuple(self._row(run, now) for run in found.found)
            self._listing = Listing(rows=rows, skipped=tuple(found.skipped))
            self._stamps = self._look()
        else:
            rows = tuple(
                row if row.state.final else self._row(row.run, now) for row in self._listing.rows
            )
            if rows != self._listing.rows:
                self._listing = replace(self._listing, rows=rows)
        return self._listing

    def _look(self) -> tuple[int, ...]:
        """When the catalogue and every file that rows are made of last changed."""
        paths = [home() / "runs"]
        for row in self._listing.rows:
            paths += [row.path / name for name in (RUN_FILE, STATUS_FILE, METRICS_FILE)]
        return tuple(map(_changed_at, paths))

    def _row(self, run: FoundRun, now: float) -> RunRow:
        if run.path not in self._returns:
            self._returns[run.path] = _Returns(run.path)
        returns = self._returns[run.path].read()
        state = observed_state(run.status, now)
        errors = _errors(run.path) if run.status and _had_trouble(run, state) else ()
        return RunRow(
            run=run,
            state=state,
            reason=_reason(run, state, now, errors),
            advice=_advice(run, state),
            returns=returns,
            errors=errors,
        )


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class _Returns:
    """A run's mean episode returns; lines that a resume has superseded are gone."""

    def __init__(self, folder: Path) -> None:
        self._tail = JsonTail(folder / METRICS_FILE)
        self._points: list[tuple[int, float]] = []

    def read(self) -> tuple[float, ...]:
        try:
            for line in self._tail.objects():
                self._take(line)
        except OSError:
            pass  # the run's own screen says what can't be read
        return tuple(value for _, value in self._points)

    def _take(self, line: Mapping[str, Any]) -> None:
        step, value = line.get("step"), line.get(RETURN)
        if not isinstance(step, int):
            return
        if "event" in line:
            self._points = [point for point in self._points if point[0] <= step]
        elif isinstance(value, int | float) and math.isfinite(value):
            self._points.append((step, float(value)))


def _had_trouble(run: FoundRun, state: RunState) -> bool:
    assert run.status is not None
    return run.status.attempt > 1 or state in {RunState.FAILED, RunState.LOST}


def _errors(folder: Path) -> tuple[str, ...]:
    try:
        events = records.read_events(folder)
    except OSError:
        return ()
    return tuple(_why(e.details) for e in events if e.event in {"crashed", "failed", "save_failed"})


def _why(details: Mapping[str, Any]) -> str:
    return str(details.get("why") or details.get("reason") or "no reason was recorded")


def _reason(run: FoundRun, state: RunState, now: float, errors: Iterable[str]) -> str:
    status = run.status
    if status is None:
        return "it left no status that can be read"
    if state is RunState.LOST:
        return f"its process {status.pid} is gone and left no last word"
    if state is RunState.STALLED:
        return f"its process lives and has been silent for {duration(now - status.updated_at)}"
    if status.reason:
        return status.reason
    return next(reversed(list(errors)), "") if state is RunState.FAILED else ""


def _advice(run: FoundRun, state: RunState) -> str:
    if run.record.algorithm == _EVALUATION:
        over = state.final or state is RunState.LOST
        return "enter shows its log; y copies its command, which is typed by hand" if over else ""
    saved = run.status.last_checkpoint if run.status else None
    on = f"r resumes from step {grouped(saved.step)}" if saved else "N starts it anew"
    if state in {RunState.FAILED, RunState.LOST}:
        return f"{on}; enter shows its log"
    if state is RunState.STOPPED:
        return on
    if state is RunState.DONE:
        return "w starts another from its checkpoint" if saved else "N starts another like it"
    if state is RunState.STALLED:
        return "enter to look; s there stops it"
    return ""
