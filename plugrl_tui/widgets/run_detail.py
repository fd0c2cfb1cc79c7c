"""What RUNS tells of the run at its cursor: its curve, lineage, changes, errors, and a way on."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from plugrl.runs.moments import ago
from plugrl_tui.core import format as fmt
from plugrl_tui.core.glyphs import sparkline
from plugrl_tui.widgets.pane import Pane, Row, Span

if TYPE_CHECKING:
    from plugrl_tui.core.history import RunRow

_LABEL_WIDTH = 11


class RunDetail(Pane):
    """The most important lines first: what has no room falls away from below."""

    can_focus = False

    def __init__(self, *, id: str) -> None:
        """Begin without a run."""
        super().__init__(id=id)
        self._run: RunRow | None = None
        self._flow: str | None = None
        self._changes: tuple[str, ...] = ()

    def show(self, run: "RunRow | None", flow: str | None) -> None:
        """Tell of a run.

        Args:
            run: the run.
            flow: what Prefect remembers of it, where it does.
        """
        if run is not None and (self._run is None or run.path != self._run.path):
            from plugrl_tui.core.run_drafts import changed_fields

            self._changes = changed_fields(run)
        self._run, self._flow = run, flow
        self.title = run.name if run is not None else ""
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """As many lines as fit."""
        if self._run is None:
            return []
        lines: list[Row] = []
        for label, text, style in self._facts(self._run, width - _LABEL_WIDTH):
            room = width - _LABEL_WIDTH
            for place, part in enumerate(fmt.wrapped(text, room)):
                head = label if place == 0 else ""
                lines.append([Span(f"{head:<{_LABEL_WIDTH}}", "dim"), Span(part, style)])
        return lines

    def _facts(self, run: "RunRow", room: int) -> Iterator[tuple[str, str, str]]:
        from plugrl.runs.records import RunState

        if run.reason:
            bad = run.state in {RunState.FAILED, RunState.LOST}
            yield "why", run.reason, "bad" if bad else "warn" if run.lives else ""
        if run.advice:
            yield "what now", run.advice, "accent"
        if run.returns:
            last = fmt.value(run.last_return)
            room_left = max(room - len(last) - 1, 4)
            spark = sparkline(_lifted(_binned(run.returns, room_left)), room_left)
            yield "return", f"{spark} {last}", ""
        if run.run.status is None and run.page is not None:
            yield "page", run.page, "dim"
            return
        yield "from", run.lineage.removeprefix("from ") if run.lineage else "fresh weights", ""
        status = run.run.status
        if status is not None and status.last_checkpoint is not None:
            step = fmt.grouped(status.last_checkpoint.step)
            yield "checkpoint", f"step {step}", ""
        yield "changed", ", ".join(self._changes) or "nothing", ""
        yield from self._history(run)
        yield "folder", _near(run.path), "dim"

    def _history(self, run: "RunRow") -> Iterator[tuple[str, str, str]]:
        status = run.run.status
        if status is not None and status.attempt > 1:
            yield "attempts", f"{status.attempt}, {len(run.errors)} crashed", ""
        if run.errors and run.errors[-1] != run.reason:
            yield "last error", run.errors[-1], "bad"
        if self._flow is not None:
            yield "prefect", self._flow, ""
        if status is not None and status.flow_run_url:
            yield "page", status.flow_run_url, "dim"
        if status is not None:
            yield "seen", ago(status.updated_at), "dim"


def _near(path: Path) -> str:
    """A path, from here where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _binned(values: Sequence[float], number: int) -> list[float]:
    """At most ``number`` values: the means of equally long parts."""
    if len(values) <= number:
        return list(values)
    edges = [len(values) * part // number for part in range(number + 1)]
    return [fmean(values[low:high]) for low, high in pairwise(edges)]


def _lifted(values: Sequence[float]) -> list[float]:
    """Above zero, so that a sparkline shows the shape of what is negative too."""
    lowest = min(values)
    return [value - lowest + (max(values) - lowest) / 20 for value in values]
