"""The server's process over the latest minutes: cores and memory."""

from collections.abc import Sequence
from typing import ClassVar

from plugrl_tui.core import format as fmt
from plugrl_tui.core.glyphs import sparkline
from plugrl_tui.core.model import Part
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_COLUMN = 46


class HostStrip(RunPane):
    """Where there is room: what the server's process uses, and its checkpoints."""

    NAME = "Server"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.HOST})
    TICKS = 4
    can_focus = False

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """One line each."""
        snapshot, rates = self.model.snapshot, self.model.rates
        if snapshot is None or not rates.cpu:
            return [[Span("the server's process is not known", "dim")]]
        process, room = snapshot.process, max(min(width - 24, _COLUMN), 0)
        self.title = f"Server {process.host} pid {process.pid}"
        return [
            [
                *(Span("cores  ", "dim"), Span(f"{rates.cpu[-1]:>10.2f}  ", "strong")),
                Span(sparkline(list(rates.cpu), room), "accent"),
            ],
            [
                *(Span("memory ", "dim"), Span(f"{fmt.size(rates.rss[-1]):>10}  ", "strong")),
                Span(sparkline(list(rates.rss), room), "accent"),
            ],
            [*self._saved()],
        ]

    def _saved(self) -> Row:
        checkpoint = self.model.checkpoint
        if checkpoint is None:
            return [Span("no checkpoint yet", "dim")]
        took = f", {fmt.size(checkpoint.bytes)} in {fmt.duration(checkpoint.seconds)}"
        return [
            Span("saved  ", "dim"),
            Span(f"step {fmt.grouped(checkpoint.step)}", "strong"),
            Span(took if checkpoint.bytes else "", "dim"),
        ]
