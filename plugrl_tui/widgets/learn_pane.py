"""4 Learn: where in collect, learn and save the run is, and what the latest learns said."""

import math
from collections.abc import Sequence
from typing import ClassVar

from plugrl_tui.core import format as fmt
from plugrl_tui.core.curves import LENGTH, RETURN, Curve
from plugrl_tui.core.glyphs import DOWN, THEN, UP, sparkline
from plugrl_tui.core.model import Part
from plugrl_tui.core.snapshot import Snapshot
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_PHASES = ("collect", "learn", "save")
_SHORT = (
    ("train/policy_loss", "loss"),
    ("train/value_loss", "value"),
    ("train/approx_kl", "kl"),
    ("train/clip_fraction", "clip"),
    ("train/entropy", "entropy"),
    ("train/loss", "loss"),
)
"""What the pane has room for, with short names; zoomed, everything is shown."""
_SHARES = {"train/clip_fraction"}
_TALL = 10
"""Lines from which on there is room for every metric."""
_TREND = 10
"""The return is compared with that of so many learns before."""


class LearnPane(RunPane):
    """Learn progress; zoomed, every metric with its course."""

    NAME = "4 Learn"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.LEARN, Part.CURVES})
    TICKS = 2

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The phase, the learns, the return, the losses."""
        rows: list[Row] = []
        if self.model.snapshot is not None and not self.model.is_over:
            rows += [self._phase(self.model.snapshot, width)]
        rows += [self._learns(width), self._returns(width)]
        if self.zoomed or height >= _TALL:
            return [*rows, [], *self._every_metric(width, height - len(rows) - 1)]
        return [*rows, self._losses(width)]

    def _phase(self, snapshot: Snapshot, width: int) -> Row:
        row: list[Span] = []
        for phase in _PHASES:
            if row:
                row.append(Span(f" {THEN} ", "dim"))
            here = phase == snapshot.phase
            row.append(Span(phase.upper() if here else phase, "strong" if here else "dim"))
        if snapshot.phase not in _PHASES:
            row = [Span(snapshot.phase.upper(), "strong")]
        used = sum(len(span.text) for span in row)
        where = self._within(snapshot)
        return [*row, Span(where.rjust(max(width - used, 0)) if used + len(where) < width else "")]

    def _within(self, snapshot: Snapshot) -> str:
        """How far the phase is."""
        learn = snapshot.learn
        if learn is not None:
            done = learn.epoch * learn.num_minibatches + learn.minibatch
            total = max(learn.num_epochs * learn.num_minibatches, 1)
            return f"{fmt.percent(done / total)} {fmt.duration(learn.seconds)}"
        steps, target = self.model.curves.steps, self.model.curves.frames_per_learn()
        if snapshot.phase != "collect" or not steps:
            return ""
        collected = max(snapshot.counters.global_step - steps[-1], 0)
        return fmt.grouped(collected) + (f"/{fmt.grouped(target)}" if target else "")

    def _learns(self, width: int) -> Row:
        snapshot, status = self.model.snapshot, self.model.status
        learns = snapshot.counters.num_learns if snapshot else status.num_learns if status else None
        row = [Span("learns ", "dim"), Span(fmt.grouped(learns), "strong")]
        learn = snapshot.learn if snapshot else None
        epoch = (
            f"{learn.epoch + 1}/{learn.num_epochs}" if learn and learn.num_epochs else fmt.MISSING
        )
        last = fmt.duration(self.model.latest("time/learn_seconds"))
        parts = [("epoch ", epoch), ("last ", last)]
        used = len("learns ") + len(fmt.grouped(learns))
        for name, text in parts:
            if used + 3 + len(name) + len(text) <= width:
                row += [Span("   "), Span(name, "dim"), Span(text, "strong")]
                used += 3 + len(name) + len(text)
        return row

    def _returns(self, width: int) -> Row:
        last, curve = self.model.latest(RETURN), self.model.curves.get(RETURN)
        if last is None:
            words = "no learn has ended yet" if self.model.knows_metrics else "not known"
            return [Span("return ", "dim"), Span(words, "dim")]
        change = _trend(curve) if curve is not None else None
        row = [Span("return ", "dim"), Span(fmt.value(last), "strong")]
        if change:
            sign, style = (UP, "good") if change > 0 else (DOWN, "warn")
            row.append(Span(f" {sign}{fmt.value(abs(change))}", style))
        length = fmt.value(self.model.latest(LENGTH))
        if sum(len(span.text) for span in row) + 7 + len(length) <= width:
            row += [Span("   len ", "dim"), Span(length, "strong")]
        return row

    def _losses(self, width: int) -> Row:
        row: list[Span] = []
        used = 0
        for name, short in _SHORT:
            last = self.model.latest(name)
            if last is None:
                continue
            text = fmt.percent(last) if name in _SHARES else fmt.value(last)
            gap = "  " if row else ""
            if used + len(gap) + len(short) + 1 + len(text) > width:
                break
            row += [Span(f"{gap}{short} ", "dim"), Span(text, "strong")]
            used += len(gap) + len(short) + 1 + len(text)
        words = "no learn has ended yet" if self.model.knows_metrics else "learns are not known"
        return row or [Span(words, "dim")]

    def _every_metric(self, width: int, height: int) -> list[Row]:
        names = self.model.curves.names()
        shown = {name: name if self.zoomed else name.rpartition("/")[2] for name in names}
        column = min(max((len(name) for name in shown.values()), default=0) + 1, width - 17)
        course_width = max(width - column - 11, 0)
        heading = f"{'metric':<{column}}{'last':>9}" + ("  course" if course_width > 6 else "")
        rows: list[Row] = [[Span(heading, "head")]]
        for name in names:
            curve = self.model.curves.get(name)
            assert curve is not None
            label, last = fmt.fitted(shown[name], column - 1), fmt.value(curve.last)
            course = Span(_course(curve, course_width), "accent")
            rows.append([Span(f"{label:<{column}}", "dim"), Span(f"{last:>9}  "), course])
        if len(rows) > height > 1:
            hidden = len(rows) - height + 1
            rows = [*rows[: height - 1], [Span(f"and {hidden} more in 5, the chart", "dim")]]
        return rows


def _trend(curve: Curve) -> float | None:
    values = curve.values.values
    if len(values) < 2:
        return None
    before = values[max(len(values) - 1 - _TREND, 0)]
    change = values[-1] - before
    return change if math.isfinite(change) else None


def _course(curve: Curve, width: int) -> str:
    extents = curve.values.columns(max(width, 0), max(len(curve.values) - 4 * max(width, 1), 0))
    middles = [(extent.low + extent.high) / 2 for extent in extents]
    finite = [middle for middle in middles if math.isfinite(middle)]
    low = min(finite, default=0.0)
    return sparkline([middle - low if math.isfinite(middle) else 0.0 for middle in middles], width)
