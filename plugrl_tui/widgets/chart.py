"""5 Chart: one metric over steps or time, smoothed or not, with a cursor that reads it."""

import bisect
import math
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import ClassVar

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core import format as fmt
from plugrl_tui.core.curves import RETURN, Curve, short_name
from plugrl_tui.core.downsample import SMOOTHING, Extent, Pyramid, smoothed
from plugrl_tui.core.model import Part, RunModel
from plugrl_tui.core.raster import NO_DOTS, draw
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_AXIS = 8


class ChartPane(RunPane):
    """One curve in braille."""

    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.CURVES})
    TICKS = 4
    GROUP = "chart"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("chart")]

    def __init__(
        self, model: RunModel, *, id: str, number: str = "5", metric: str = RETURN
    ) -> None:
        """Show ``metric`` under the pane's ``number``."""
        super().__init__(model, id=id)
        self.metric = metric
        self._number = number
        self._over_time = False
        self._log_scale = False
        self._smoothing = 0
        self._cursor: int | None = None
        """Columns from the left, where there is a cursor."""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The curve with its axes, or why there is none."""
        curve = self.model.curves.get(self.metric)
        self.title = f"{self._number} {short_name(self.metric)}{self._manner()}"
        self.subtitle = ""
        if curve is None or not len(curve.values):
            return [[Span("nothing to draw before the first learn has ended", "dim")]]
        plot_width, plot_height = width - _AXIS - 1, height - 2
        if plot_width < 4 or plot_height < 1:
            return [
                [Span(f"{short_name(self.metric)} ", "dim"), Span(fmt.value(curve.last), "strong")]
            ]
        values = self._values(curve)
        extents = self._columns(curve, values, plot_width)
        return self._framed(curve, values, extents, plot_width, plot_height)

    def action_next_metric(self) -> None:
        """Show the next metric."""
        self._turn_to(1)

    def action_previous_metric(self) -> None:
        """Show the metric before."""
        self._turn_to(-1)

    def _turn_to(self, by: int) -> None:
        names = self.model.curves.names()
        if names:
            place = names.index(self.metric) if self.metric in names else -1
            self.metric = names[(place + by) % len(names)]
            self.draw()

    def action_toggle_axis(self) -> None:
        """Steps or time along x."""
        self._over_time = not self._over_time
        self.draw()

    def action_toggle_log(self) -> None:
        """Logarithmic or not along y."""
        self._log_scale = not self._log_scale
        self.draw()

    def action_smooth(self) -> None:
        """The next strength of smoothing."""
        self._smoothing = (self._smoothing + 1) % len(SMOOTHING)
        self.draw()

    def action_left(self) -> None:
        """Move the cursor to the left; it begins at the right edge."""
        self._move(-1)

    def action_right(self) -> None:
        """Move the cursor to the right."""
        self._move(1)

    def _move(self, columns: int) -> None:
        last = self.content_size.width - _AXIS - 2
        place = last if self._cursor is None else self._cursor + columns
        self._cursor = min(max(place, 0), max(last, 0))
        self.draw()

    def action_no_cursor(self) -> None:
        """Take the cursor away."""
        self._cursor = None
        self.draw()

    def _manner(self) -> str:
        weight = SMOOTHING[self._smoothing]
        parts = [f"ema {weight:g}"] if weight else []
        parts += ["log"] if self._log_scale else []
        return f" ({', '.join(parts)})" if parts else ""

    def _values(self, curve: Curve) -> Pyramid:
        """The curve as it is to be drawn; unchanged where nothing is to be done to it."""
        weight = SMOOTHING[self._smoothing]
        if not weight and not self._log_scale:
            return curve.values
        values = smoothed(curve.values.values, weight) if weight else curve.values.values
        if self._log_scale:
            values = [math.log10(v) if v > 0 else math.nan for v in values]
        return Pyramid(values)

    def _columns(self, curve: Curve, values: Pyramid, width: int) -> list[Extent | None]:
        """One extent per dot column, evenly spaced along the x axis."""
        along: Sequence[float] = curve.times if self._over_time else curve.steps
        first, last = along[0], along[-1]
        if len(along) < 2 or not last > first:
            return [values.extent(0, len(values))]
        dots = 2 * width
        places = [first + (last - first) * dot / dots for dot in range(1, dots + 1)]
        edges = [0, *(bisect.bisect_right(along, place) for place in places)]
        edges[-1] = len(values)
        return [
            values.extent(low, high) if high > low else _between(along, values, low, edge)
            for (low, high), edge in zip(pairwise(edges), places, strict=True)
        ]

    def _framed(
        self,
        curve: Curve,
        values: Pyramid,
        extents: list[Extent | None],
        width: int,
        height: int,
    ) -> list[Row]:
        picture = draw(extents, width, height)
        rows: list[Row] = []
        for line, text in enumerate(picture.lines):
            share = line / max(height - 1, 1)
            label = ""
            if line in {0, height - 1} or (height >= 9 and line == height // 2):
                label = self._label(picture.high + (picture.low - picture.high) * share)
            rows.append([Span(f"{label:>{_AXIS - 1}} │", "dim"), *self._with_cursor(text)])
        rows.append([Span(" " * (_AXIS - 1) + " └" + "─" * width, "dim")])
        rows.append([Span(" " * (_AXIS + 1)), *self._x_labels(curve, width)])
        self._name_place(curve, values, width)
        return rows

    def _label(self, value: float) -> str:
        return fmt.value(10**value if self._log_scale else value)

    def _with_cursor(self, text: str) -> Row:
        if self._cursor is None or not self.has_focus or self._cursor >= len(text):
            return [Span(text, "accent")]
        place = self._cursor
        under = "│" if text[place] == NO_DOTS else text[place]
        return [
            Span(text[:place], "accent"),
            Span(under, "cursor"),
            Span(text[place + 1 :], "accent"),
        ]

    def _x_labels(self, curve: Curve, width: int) -> Row:
        if self._over_time:
            first, last = _time_of_day(curve.times[0]), _time_of_day(curve.times[-1])
        else:
            first, last = fmt.count(curve.steps[0]), f"{fmt.count(curve.steps[-1])} steps"
        if len(first) + len(last) + 2 > width:
            return [Span(last.rjust(width), "dim")]
        return [Span(first + last.rjust(width - len(first)), "dim")]

    def _name_place(self, curve: Curve, values: Pyramid, width: int) -> None:
        """In the border: the newest value, or the one under the cursor."""
        if self._cursor is None or not self.has_focus:
            self.subtitle = f"last {fmt.value(curve.last)}"
            return
        along: Sequence[float] = curve.times if self._over_time else curve.steps
        where = along[0] + (along[-1] - along[0]) * (self._cursor + 1) / width
        place = min(max(bisect.bisect_right(along, where) - 1, 0), len(values) - 1)
        value = fmt.value(curve.values.values[place])
        self.subtitle = f"{value} at step {fmt.grouped(curve.steps[place])}"


def _between(along: Sequence[float], values: Pyramid, after: int, place: float) -> Extent | None:
    """Where a straight line from the point before ``place`` to the one after it is there."""
    if not 0 < after < len(values):
        return None
    x0, x1 = along[after - 1], along[after]
    y0, y1 = values.values[after - 1], values.values[after]
    y = y0 + (y1 - y0) * (place - x0) / (x1 - x0)
    return Extent(y, y) if math.isfinite(y) else None


def _time_of_day(seconds: float) -> str:
    if not math.isfinite(seconds):
        return fmt.MISSING
    return datetime.fromtimestamp(seconds).astimezone().strftime("%H:%M:%S")
