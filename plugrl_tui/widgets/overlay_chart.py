"""COMPARE's chart: several curves on common axes, each with its letter on it."""

from collections.abc import Sequence

from plugrl_tui.core import comparison
from plugrl_tui.core import format as fmt
from plugrl_tui.core.comparison import Axis, Compared
from plugrl_tui.core.curves import RETURN
from plugrl_tui.core.downsample import SMOOTHING
from plugrl_tui.core.raster import NO_DOTS, bounds, draw
from plugrl_tui.widgets.pane import Pane, Row, Span

_AXIS_WIDTH = 9
_LETTER_EVERY = 24
"""Columns between two letters on a curve: they tell the curves apart without colour."""
_ROOM_AT_END = 6
"""Columns before a curve's last letter that have no other."""
CURVE_STYLES = ("accent", "good", "warn", "bad")


class OverlayChart(Pane):
    """The curves of one metric."""

    def __init__(self, runs: Sequence[Compared], *, id: str) -> None:
        """Draw ``runs``."""
        super().__init__(id=id)
        self.runs = runs
        self.metric = RETURN
        self.over_time = False
        self.smoothing = 0
        self._metrics: list[str] = []
        """Those that there were when it was last drawn: the runs may just be read."""

    def turn_metric(self, by: int) -> None:
        """Draw another metric."""
        names = self._metrics
        if names:
            place = names.index(self.metric) if self.metric in names else -1
            self.metric = names[(place + by) % len(names)]
        self.draw()

    def turn_smoothing(self) -> None:
        """The next strength."""
        self.smoothing = (self.smoothing + 1) % len(SMOOTHING)
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The legend, the curves, the axes; what was, while a run is being read."""
        with comparison.held(self.runs) as ours:
            return self._drawn(width, height) if ours else self._rows

    def _drawn(self, width: int, height: int) -> Sequence[Row]:
        self._metrics = comparison.metrics(self.runs)
        weight = SMOOTHING[self.smoothing]
        name = "return" if self.metric == RETURN else self.metric
        self.title = name + (f" (ema {weight:g})" if weight else "")
        axis = comparison.axis(self.runs, self.metric, over_time=self.over_time)
        plot_width, plot_height = width - _AXIS_WIDTH - 1, height - 3
        if axis is None:
            return [self._legend(width), [], [Span("no run has reported it yet", "dim")]]
        if plot_width < 8 or plot_height < 2:
            return [self._legend(width)]
        curves = [
            comparison.columns(run, self.metric, axis, 2 * plot_width, weight) for run in self.runs
        ]
        range_ = bounds([extent for curve in curves for extent in curve if extent is not None])
        pictures = [draw(curve, plot_width, plot_height, range_).lines for curve in curves]
        rows: list[Row] = [self._legend(width)]
        letters = self._letters(pictures)
        for line in range(plot_height):
            share = line / max(plot_height - 1, 1)
            label = ""
            if line in {0, plot_height // 2, plot_height - 1}:
                label = fmt.value(range_.high + (range_.low - range_.high) * share)
            rows.append([Span(f"{label:>7} │", "dim"), *self._merged(pictures, letters, line)])
        rows.append([Span(" " * 7 + " └" + "─" * plot_width, "dim")])
        return [*rows, [Span(" " * _AXIS_WIDTH + self._x_labels(axis, plot_width), "dim")]]

    def _legend(self, width: int) -> Row:
        room = width // len(self.runs) - 6
        row: list[Span] = []
        for place, run in enumerate(self.runs):
            row.append(Span(f" {run.letter} ", CURVE_STYLES[place]))
            row.append(Span(fmt.fitted(run.name, room) + "  "))
        return row

    def _letters(self, pictures: Sequence[Sequence[str]]) -> dict[tuple[int, int], int]:
        """Where which run's letter stands: on its curve, every so many columns."""
        found: dict[tuple[int, int], int] = {}
        for place, lines in enumerate(pictures):
            drawn = [c for c in range(len(lines[0])) if any(line[c] != NO_DOTS for line in lines)]
            offset = 4 + place * _LETTER_EVERY // len(pictures)
            last = drawn[-1] if drawn else 0
            wanted = {c for c in drawn if c % _LETTER_EVERY == offset and c < last - _ROOM_AT_END}
            for column in wanted | set(drawn[-1:]):
                line = next(y for y, text in enumerate(lines) if text[column] != NO_DOTS)
                found.setdefault((line, column), place)
        return found

    def _merged(
        self, pictures: Sequence[Sequence[str]], letters: dict[tuple[int, int], int], line: int
    ) -> Row:
        spans: list[Span] = []
        for column in range(len(pictures[0][line])):
            signs = [picture[line][column] for picture in pictures]
            owner = next((i for i, sign in enumerate(signs) if sign != NO_DOTS), None)
            text = NO_DOTS if owner is None else signs[owner]
            if (line, column) in letters:
                owner = letters[line, column]
                text = self.runs[owner].letter
            style = "" if owner is None else CURVE_STYLES[owner]
            if spans and spans[-1].style == style:
                spans[-1] = Span(spans[-1].text + text, style)
            else:
                spans.append(Span(text, style))
        return spans

    def _x_labels(self, axis: Axis, width: int) -> str:
        if axis.over_time:
            first, last = "0", f"{fmt.duration(axis.last)} since its start"
        else:
            first, last = fmt.count(axis.first), f"{fmt.count(axis.last)} steps"
        return first + last.rjust(width - len(first))
