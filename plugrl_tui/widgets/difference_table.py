"""COMPARE's table: a line a field, a column a run."""

from collections.abc import Sequence

from plugrl_tui.core import comparison
from plugrl_tui.core.comparison import Compared
from plugrl_tui.core.format import fitted
from plugrl_tui.widgets.list_pane import ListPane
from plugrl_tui.widgets.overlay_chart import CURVE_STYLES
from plugrl_tui.widgets.pane import Row, Span

_NAME_WIDTH = 28
_RESULTS = ("state", "step", "return", "began from")
"""Rows that are shown whether they differ or not."""


class DifferenceTable(ListPane):
    """Where the runs differ; all fields on demand."""

    def __init__(self, runs: Sequence[Compared], *, id: str) -> None:
        """Tell of ``runs``."""
        super().__init__(id=id)
        self.runs = runs
        self.all_fields = False
        self._first = 0

    def move(self, lines: int) -> None:
        """Scroll."""
        self._first = max(self._first + lines, 0)
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The fields; what was, while a run is being read."""
        with comparison.held(self.runs) as ours:
            return self._told(width, height) if ours else self._rows

    def _told(self, width: int, height: int) -> Sequence[Row]:
        told = comparison.differences(self.runs)
        differ = [d for d in told if d.differs or d.name in _RESULTS]
        shown = told if self.all_fields else differ
        hidden = len(told) - len(differ)
        self.title = "All fields" if self.all_fields else "Differences"
        self.subtitle = "" if self.all_fields else f"{hidden} fields are the same · m shows them"
        self._first = min(self._first, max(len(shown) - height + 1, 0))
        name_width = min(_NAME_WIDTH, width // 3)
        room = (width - name_width) // len(self.runs) - 1
        head: list[Span] = [Span(" " * name_width, "head")]
        for place, run in enumerate(self.runs):
            head.append(Span(f" {run.letter}".ljust(room + 1), CURVE_STYLES[place]))
        rows: list[Row] = [head]
        for difference in shown[self._first : self._first + height - 1]:
            style = "strong" if difference.differs and self.all_fields else ""
            cells = [fitted(text, room).ljust(room) for text in difference.values]
            name = fitted(difference.name, name_width).ljust(name_width)
            rows.append([Span(name, "dim"), Span(" " + " ".join(cells), style)])
        return rows
