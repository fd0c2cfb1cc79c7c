"""COMPARE: two to four runs over one another."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from plugrl_tui.actions import bindings
from plugrl_tui.core import comparison
from plugrl_tui.screens.base import RoomScreen
from plugrl_tui.widgets.difference_table import DifferenceTable
from plugrl_tui.widgets.key_line import KeyLine
from plugrl_tui.widgets.overlay_chart import OverlayChart

REFRESH_S = 2.0


class CompareScreen(RoomScreen):
    """Runs, read from their folders, also while they go on."""

    ACTION_GROUP = "compare"
    PANE_GROUPS = ("list",)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compare")]
    DEFAULT_CSS = """
    CompareScreen #title { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    CompareScreen OverlayChart { height: 3fr; }
    CompareScreen DifferenceTable { height: 2fr; }
    """

    def __init__(self, *, runs: Sequence[Path]) -> None:
        """Compare the runs in these folders.

        Raises:
            UsageError: there are too few or too many.
        """
        super().__init__()
        self._runs = comparison.compared(runs)
        self._revisions: tuple[int, ...] = ()
        self._reading = False

    def compose(self) -> ComposeResult:
        """Chart and table."""
        yield Static("plugrl ▸ compare", id="title", markup=False)
        yield OverlayChart(self._runs, id="chart")
        yield DifferenceTable(self._runs, id="differences")
        yield KeyLine()

    @property
    def chart(self) -> OverlayChart:
        """The chart."""
        return self.query_one(OverlayChart)

    @property
    def table(self) -> DifferenceTable:
        """The table."""
        return self.query_one(DifferenceTable)

    def on_mount(self) -> None:
        """Read them, and again while they grow."""
        self.table.focus()
        self.read()
        self.set_interval(REFRESH_S, self.read)

    def read(self) -> None:
        """Take what is new, unless that is being done."""
        if not self._reading:
            self._reading = True
            self._read()

    @work(thread=True, group="read")
    def _read(self) -> None:
        for run in self._runs:
            run.read()
        self.app.call_from_thread(self._show)

    def _show(self) -> None:
        self._reading = False
        revisions = tuple(n for run in self._runs for n in run.model.revisions.values())
        if revisions != self._revisions and self.is_mounted:
            self._revisions = revisions
            self.chart.draw()
            self.table.draw()
            problems = [
                f"{run.letter}: {each}" for run in self._runs for each in run.model.problems
            ]
            title = "plugrl ▸ compare" + (f"     {problems[0]}" if problems else "")
            self.query_one("#title", Static).update(title)

    def action_next_metric(self) -> None:
        """The next metric."""
        self.chart.turn_metric(1)

    def action_previous_metric(self) -> None:
        """The metric before."""
        self.chart.turn_metric(-1)

    def action_toggle_axis(self) -> None:
        """Steps or time."""
        self.chart.over_time = not self.chart.over_time
        self.chart.draw()

    def action_smooth(self) -> None:
        """Smoothing."""
        self.chart.turn_smoothing()

    def action_all_fields(self) -> None:
        """All fields, or only those that differ."""
        self.table.all_fields = not self.table.all_fields
        self.table.draw()

    def action_export_csv(self) -> None:
        """A table."""
        self._export("csv", partial(comparison.csv_text, self._runs))

    def action_export_svg(self) -> None:
        """A picture of the metric that is shown."""
        metric, over_time = self.chart.metric, self.chart.over_time
        text = partial(comparison.svg_text, self._runs, metric, over_time=over_time)
        self._export("svg", text)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()

    @work(group="export")
    async def _export(self, kind: str, text: Callable[[], str]) -> None:
        names = "-".join(run.name for run in self._runs)[:120]
        path = Path.cwd() / f"compare-{names}.{kind}"
        try:
            await asyncio.to_thread(lambda: path.write_text(text(), "utf-8"))
        except OSError as error:
            self.notify(f"can't write {path}: {error.strerror}", severity="error")
        else:
            self.notify(f"wrote {path}")
