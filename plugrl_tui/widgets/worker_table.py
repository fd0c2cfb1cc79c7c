"""2 Workers: one line each, those in trouble first; columns fall away from the right."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core import format as fmt
from plugrl_tui.core.model import Link, Part
from plugrl_tui.core.workers import Condition, WorkerRow
from plugrl_tui.widgets.list_pane import CursorPane
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_STYLES = {
    Condition.LOST: "bad",
    Condition.SLOW: "warn",
    Condition.MUTE: "dim",
    Condition.SYNC: "accent",
    Condition.OK: "good",
}


class _Column(NamedTuple):
    name: str
    width: int
    text: Callable[[WorkerRow], str]
    key: Callable[[WorkerRow], float]
    is_number: bool = True


_STATE_WIDTH = 6
_COLUMNS = (
    _Column("id", 5, lambda r: f"w{r.worker.id:02d}", lambda r: r.worker.id, is_number=False),
    _Column("fps", 5, lambda row: fmt.count(row.frames_per_second), lambda r: -r.frames_per_second),
    _Column("ms", 5, lambda r: fmt.millis(r.worker.step_seconds), lambda r: -r.worker.step_seconds),
    _Column("return", 6, lambda r: _short_return(r.worker.return_mean), lambda r: -_return(r)),
    _Column("ep", 5, lambda r: fmt.count(r.worker.episodes), lambda r: -r.worker.episodes),
    _Column("envs", 5, lambda r: fmt.count(r.worker.envs), lambda r: -r.worker.envs),
    _Column("disc", 5, lambda r: fmt.count(r.num_discarded), lambda r: -r.num_discarded),
    _Column("seen", 7, lambda r: fmt.duration(r.seen_seconds), lambda r: -r.seen_seconds),
    _Column("host", 22, lambda r: r.worker.address, lambda r: r.worker.id, is_number=False),
)


class WorkerTable(RunPane, CursorPane):
    """The workers; with the focus, a cursor and what is known of the one under it."""

    NAME = "2 Workers"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.WORKERS, Part.HEAD})
    TICKS = 4
    GROUP = "workers"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("workers")]

    sort = -1
    """The column sorted by; -1 is trouble first."""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """A heading, and as many workers as fit around the cursor."""
        workers = self._sorted()
        self.title = f"2 Workers {self.model.workers.num_connected}/{self.model.workers.num_seen}"
        self.subtitle = _summary(workers)
        if not workers:
            self.title = "2 Workers 0"
            return self._nobody(width)
        self.cursor = max(0, min(self.cursor, len(workers) - 1))
        detail = _detail(workers[self.cursor], width) if self.zoomed else []
        room = max(height - 1 - len(detail), 1)
        columns = _fitting(width)
        rows: list[Row] = [self._heading(columns)]
        for place in self.around_cursor(room):
            at_cursor = place == self.cursor and self.has_focus
            rows.append(_line(workers[place], columns, at_cursor=at_cursor))
        rows += [[]] * (height - len(rows) - len(detail))
        return [*rows, *detail]

    def action_sort(self) -> None:
        """Sort by the next column that is seen."""
        shown = len(_fitting(self.content_size.width))
        self.sort = -1 if self.sort + 1 >= shown else self.sort + 1
        self.draw()

    def num_lines(self) -> int:
        """Workers that are connected, and those that were lost lately."""
        return self.model.workers.num_seen

    def _sorted(self) -> list[WorkerRow]:
        rows = self.model.workers.rows()
        return rows if self.sort < 0 else sorted(rows, key=_COLUMNS[self.sort].key)

    def _heading(self, columns: Sequence[_Column]) -> Row:
        row = [Span("state".ljust(_STATE_WIDTH), "head")]
        for place, column in enumerate(columns):
            name = f"{column.name}▾" if place == self.sort else column.name
            row.append(Span(" " + _aligned(name, column), "head"))
        return row

    def _nobody(self, width: int) -> list[Row]:
        """The command that starts an env client, in words that can be copied."""
        if self.model.is_over:
            return [[Span("the run is over, nobody is connected", "dim")]]
        if self.model.snapshot is None or self.model.link is not Link.LIVE:
            return [[Span("no server, so nobody is connected", "dim")]]
        command = self.model.client_command()
        if self.model.has_own_clients:
            rows: list[Row] = [[Span("its clients are starting; one more:", "dim")], []]
        else:
            rows = [[Span("no env client is connected; start one:", "warn")], []]
        rows += [[Span(line, "strong")] for line in fmt.wrapped(command, width)]
        return [*rows, [], [Span("y copies this command", "dim")]]


def _return(row: WorkerRow) -> float:
    return float("-inf") if row.worker.return_mean is None else row.worker.return_mean


def _short_return(number: float | None) -> str:
    text = fmt.value(number)
    return text if len(text) <= 6 else fmt.count(number)


def _fitting(width: int) -> list[_Column]:
    columns, used = [], _STATE_WIDTH
    for column in _COLUMNS:
        used += 1 + column.width
        if used > width:
            break
        columns.append(column)
    return columns


def _aligned(text: str, column: _Column) -> str:
    cut = fmt.fitted(text, column.width)
    return cut.rjust(column.width) if column.is_number else cut.ljust(column.width)


def _line(row: WorkerRow, columns: Sequence[_Column], *, at_cursor: bool) -> Row:
    state = Span(row.condition.label.ljust(_STATE_WIDTH), _STYLES[row.condition])
    rest = "".join(" " + _aligned(column.text(row), column) for column in columns)
    return [state, Span(rest, "cursor" if at_cursor else "")]


def _summary(rows: Sequence[WorkerRow]) -> str:
    counts = Counter(row.condition for row in rows)
    troubled = [kind for kind in Condition if kind is not Condition.OK and counts[kind]]
    return "  ".join(f"{kind.value[0]}{counts[kind]} {kind.value[1]}" for kind in troubled)


def _detail(row: WorkerRow, width: int) -> list[Row]:
    worker = row.worker
    causes = ", ".join(
        f"{n} {cause.replace('_', ' ')}" for cause, n in worker.discarded.items() if n
    )
    waited = "; the queue waits for it" if row.missing else ""
    connected = fmt.duration(worker.connected_seconds)
    lines = (
        f"w{worker.id:02d} {worker.address}: {row.condition.meaning}",
        f"state {worker.state} for {fmt.duration(worker.state_seconds)}{waited}",
        f"connected for {connected}",
        f"{fmt.grouped(worker.frames_kept)} frames stored; discarded: {causes or 'none'}",
    )
    return [[Span("─" * width, "dim")], *([Span(fmt.fitted(line, width))] for line in lines)]
