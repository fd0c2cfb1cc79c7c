"""RUNS' table: one line a run; columns fall away from the right, the state never."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.events import Click

from plugrl.runs.moments import ago
from plugrl_tui.core import format as fmt
from plugrl_tui.widgets.list_pane import CursorPane
from plugrl_tui.widgets.pane import Row, Span

if TYPE_CHECKING:
    from pathlib import Path

    from plugrl_tui.core.history import RunRow
    from plugrl_tui.core.launcher import Launched

_STATE_WIDTH = 12
_MIN_NAME_WIDTH = 16
_MAX_NAME_WIDTH = 40


class _Column(NamedTuple):
    name: str
    width: int
    text: "Callable[[RunRow], str]"
    is_number: bool = True


def _algorithm(row: "RunRow") -> str:
    record = row.run.record
    variant = record.algorithm_variant
    return record.algorithm if variant == "default" else f"{record.algorithm} {variant}"


def _step(row: "RunRow") -> str:
    if row.where != "folder":
        return fmt.MISSING
    return fmt.progress(row.step, row.run.record.total_steps)


_COLUMNS = (
    _Column("step", 12, _step),
    _Column("return", 8, lambda row: fmt.value(row.last_return)),
    _Column("started", 11, lambda row: ago(row.run.record.created_at)),
    _Column("algorithm", 12, _algorithm, is_number=False),
    _Column("env", 11, lambda row: row.run.record.env or fmt.MISSING, is_number=False),
    _Column("policy", 20, lambda row: row.run.record.policy, is_number=False),
    _Column("attempt", 7, lambda row: str(row.run.status.attempt if row.run.status else 0)),
)


class RunTable(CursorPane):
    """The runs that the filter lets through, with a cursor and marks."""

    def __init__(self, *, id: str) -> None:
        """Begin without runs."""
        super().__init__(id=id)
        self.title = "Runs"
        self.runs: list[RunRow] = []
        self.marked: set[str] = set()
        self.empty: list[str] = []
        """What is said where there are none."""
        self._num_launched = 0
        self._awaited: Path | None = None
        """Launched, and not listed yet."""

    @property
    def current(self) -> "RunRow | None":
        """The run at the cursor."""
        return self.runs[self.cursor] if self.runs else None

    def show(self, runs: "Sequence[RunRow]", *, title: str, empty: list[str]) -> None:
        """Show these; the cursor stays on its run, or goes to one that was launched."""
        path = self.current.path if self.current else None
        self.runs, self.title, self.empty = list(runs), title, empty
        places = {row.path: place for place, row in enumerate(self.runs)}
        if self._awaited in places:
            path, self._awaited = self._awaited, None
        self.put(self.cursor if path is None else places.get(path, self.cursor))

    def await_latest(self, launched: "Sequence[Launched]") -> None:
        """Put the cursor on the run launched last, as soon as it is listed.

        Args:
            launched: all that the app has started; the table looks at what is new to it.
        """
        if len(launched) > self._num_launched:
            self._awaited = launched[-1].run_dir
        self._num_launched = len(launched)

    def toggle_mark(self) -> None:
        """Mark the run at the cursor, or take its mark away."""
        if self.current is not None:
            self.marked ^= {str(self.current.path)}
            self.move(1)

    def num_lines(self) -> int:
        """Runs that are listed."""
        return len(self.runs)

    def on_click(self, event: Click) -> None:
        """Put the cursor on the line; the first one is the heading."""
        offset = event.get_content_offset(self)
        if offset is not None and 0 <= self.first + offset.y - 1 < len(self.runs):
            self.put(self.first + offset.y - 1)

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """A heading, and the runs around the cursor."""
        if not self.runs:
            return [[Span(fmt.fitted(line, width), "dim")] for line in self.empty]
        self.subtitle = f"{len(self.marked)} marked" if self.marked else ""
        name_width, columns = _fitting(width, max(map(_name_length, self.runs)))
        heading = f"  {'state':<{_STATE_WIDTH}}{'run':<{name_width}}"
        heading += "".join(" " + _aligned(column.name, column) for column in columns)
        lines: list[Row] = [[Span(heading.ljust(width), "head")]]
        places = self.around_cursor(max(height - 1, 1))
        lines += [self._line(place, name_width, columns, width) for place in places]
        return lines

    def _line(self, place: int, name_width: int, columns: Sequence[_Column], width: int) -> Row:
        from plugrl_tui.widgets.state_signs import STATE_SIGNS

        row = self.runs[place]
        sign, style = STATE_SIGNS[row.state]
        only = "" if row.where == "folder" else f" ({row.where})"
        rest = (fmt.fitted(row.name, name_width - len(only)) + only).ljust(name_width)
        rest += "".join(" " + _aligned(column.text(row), column) for column in columns)
        at_cursor = place == self.cursor and self.has_focus
        mark = "*" if str(row.path) in self.marked else " "
        return [
            Span(f"{mark} ", "accent"),
            Span(f"{sign} {row.state}".ljust(_STATE_WIDTH), style),
            Span(rest.ljust(width - _STATE_WIDTH - 2), "cursor" if at_cursor else ""),
        ]


def _name_length(row: "RunRow") -> int:
    return len(row.name) + (0 if row.where == "folder" else len(row.where) + 3)


def _fitting(width: int, longest_name: int) -> tuple[int, list[_Column]]:
    """The name's width, and the columns that have room beside it."""
    name_width = max(_MIN_NAME_WIDTH, min(longest_name, _MAX_NAME_WIDTH))
    columns: list[_Column] = []
    left = width - _STATE_WIDTH - 2 - name_width
    for column in _COLUMNS:
        if left < column.width + 1:
            break
        left -= column.width + 1
        columns.append(column)
    return name_width, columns


def _aligned(text: str, column: _Column) -> str:
    cut = fmt.fitted(text, column.width)
    return cut.rjust(column.width) if column.is_number else cut.ljust(column.width)
