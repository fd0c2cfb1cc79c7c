"""3 Discarded frames: how many, why, and what that means."""

from collections.abc import Sequence
from typing import ClassVar

from plugrl_tui.core import format as fmt
from plugrl_tui.core.glyphs import bar, sparkline
from plugrl_tui.core.model import Part
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_RECENT_FRAMES = 8192
_MANY = 0.05
"""A larger share than this is worth a warning."""
_EXPLANATIONS = {
    "older_policy": "a learn came between inference and feedback; a few per learn are usual",
    "buffer_full": "the algorithm had all it wanted for this learn; a few per learn are usual",
    "no_step_state": "feedback without an action before it: a reconnect, or a client's mistake",
    "bad_observation": "the observation could not be split per env: a client's mistake",
}


class DiscardPane(RunPane):
    """Discarded frames by cause; zoomed, each over time with its explanation."""

    NAME = "3 Discarded frames"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.DISCARDS})
    TICKS = 4

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """One line for all, one for each cause, the largest first."""
        snapshot = self.model.snapshot
        if snapshot is None:
            return [[Span("no server, so no frames come", "dim")]]
        causes = sorted(snapshot.counters.discarded.items(), key=lambda item: -item[1])
        head = self._head(width)
        if not any(number for _, number in causes):
            total = fmt.grouped(snapshot.counters.frames_kept)
            return [head, [Span(f"none of {total} since the start", "dim")]]
        highest = max(number for _, number in causes)
        rows = [head]
        for cause, number in causes:
            rows.append(_cause(cause, number, highest, width))
            if self.zoomed:
                rows += self._explained(cause, width)
        return rows

    def _head(self, width: int) -> Row:
        share, seen = self.model.rates.discarded_share(_RECENT_FRAMES)
        text = f"of last {fmt.grouped(seen)} "
        room = width - len(text) - 6
        return [
            Span(f"{fmt.percent(share)} ", "warn" if share > _MANY else "strong"),
            Span(text, "dim"),
            Span(sparkline(self.model.rates.discarded, min(room, 40)), "accent"),
        ]

    def _explained(self, cause: str, width: int) -> list[Row]:
        history = self.model.rates.by_cause.get(cause, ())
        meaning = _EXPLANATIONS.get(cause, "a cause that this version does not know")
        return [
            [Span(f"  {fmt.fitted(meaning, width - 2)}", "dim")],
            [Span("  per second ", "dim"), Span(sparkline(list(history), width - 13), "accent")],
            [],
        ]


def _cause(cause: str, number: int, highest: int, width: int) -> Row:
    name = fmt.fitted(cause.replace("_", " "), 15)
    return [
        Span(f"{name:<15} ", "dim"),
        Span(f"{fmt.count(number):>5} ", "strong"),
        Span(bar(number / highest, width - 23) if highest else "", "warn"),
    ]
