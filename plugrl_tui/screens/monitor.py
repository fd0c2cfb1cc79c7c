"""MONITOR: one run, live or from its folder."""

import logging
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid
from textual.events import Resize
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from plugrl_tui.actions import bindings
from plugrl_tui.core.attach import Attached, attach
from plugrl_tui.core.feed import Access, FeedError
from plugrl_tui.core.model import Link, Part
from plugrl_tui.screens.base import RoomScreen
from plugrl_tui.widgets.chart import ChartPane
from plugrl_tui.widgets.discard_pane import DiscardPane
from plugrl_tui.widgets.host_strip import HostStrip
from plugrl_tui.widgets.infer_pane import InferPane
from plugrl_tui.widgets.key_line import KeyLine
from plugrl_tui.widgets.learn_pane import LearnPane
from plugrl_tui.widgets.log_view import LogView
from plugrl_tui.widgets.run_pane import TICK_S, RunPane
from plugrl_tui.widgets.topbar import NoticeLine, TopBar
from plugrl_tui.widgets.worker_table import WorkerTable

logger = logging.getLogger(__name__)

WIDE, HUGE = 110, 180
"""Columns from which on there are three, and four, columns of panes."""
TALL = 34
"""Lines from which on a narrow screen has room for the chart, too."""
SHORT = 23
"""Lines below which the discarded frames give way; their key shows them."""
SMALLEST = (60, 16)
"""Columns and lines below which a sentence stands in place of the panes."""
_SLOWEST_TICKS = 4
"""Every pane looks at least once in so many ticks."""


class MonitorScreen(RoomScreen):
    """The panes of one run; one timer looks at the model for all of them."""

    ACTION_GROUP = "monitor"
    PANE_GROUPS: ClassVar[tuple[str, ...]] = ("list", "workers", "chart", "log")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("monitor")]
    DEFAULT_CSS = """
    MonitorScreen #body {
        layout: grid;
        grid-size: 2;
        grid-columns: 39 1fr;
        grid-rows: 6 6 6 1fr;
        grid-gutter: 0;
    }
    MonitorScreen #workers { row-span: 3; }
    MonitorScreen #log { column-span: 2; }
    MonitorScreen #chart, MonitorScreen #chart2, MonitorScreen #host { display: none; }

    MonitorScreen.-tall #body { grid-rows: 6 6 6 1fr 8; }
    MonitorScreen.-tall #chart { display: block; column-span: 2; }

    MonitorScreen.-short #body { grid-rows: 6 6 1fr; }
    MonitorScreen.-short #discards { display: none; }
    MonitorScreen.-short #workers { row-span: 2; }

    MonitorScreen.-wide #body {
        grid-size: 3;
        grid-columns: 42 1fr 1fr;
        grid-rows: 6 8 1fr 28%;
    }
    MonitorScreen.-wide #chart { display: block; row-span: 3; column-span: 1; }
    MonitorScreen.-wide #log { column-span: 3; }

    MonitorScreen.-wide.-short #body { grid-rows: 6 1fr 28%; }
    MonitorScreen.-wide.-short #chart { row-span: 2; }

    MonitorScreen.-huge #body { grid-size: 4; grid-columns: 44 1fr 1fr 1fr; }
    MonitorScreen.-huge #chart2 { display: block; row-span: 2; }
    MonitorScreen.-huge #host { display: block; }
    MonitorScreen.-huge.-short #chart2 { row-span: 1; }
    MonitorScreen.-huge #log { column-span: 4; }

    MonitorScreen.-zoom #body, MonitorScreen.-zoom.-short #body {
        grid-size: 1;
        grid-columns: 1fr;
        grid-rows: 1fr;
    }
    MonitorScreen.-zoom #body > Pane { display: none; }
    MonitorScreen.-zoom #body > Pane.-zoomed { display: block; row-span: 1; column-span: 1; }

    MonitorScreen #body.-stale > Pane { opacity: 60%; }

    MonitorScreen #too-small { display: none; padding: 1 1; }
    MonitorScreen.-small #too-small { display: block; }
    MonitorScreen.-small #body, MonitorScreen.-small KeyLine { display: none; }
    """

    def __init__(
        self,
        *,
        target: str = "",
        access: Access | None = None,
        attached: Attached | None = None,
    ) -> None:
        """Watch ``target``.

        Args:
            target: a run's name, its folder, or its server's URL.
            access: what the server may want to know.
            attached: a model and its feed, in place of a target.

        Raises:
            UsageError: there is no such run.
        """
        super().__init__()
        self.model, self.feed = attached or attach(target, access)
        self._zoomed: RunPane | None = None
        self._frozen = False
        self._notice_seen = ""
        self._revision = -1
        self._quiet_ticks = 0

    def compose(self) -> ComposeResult:
        """A line, the panes, the keys."""
        model = self.model
        classes = self._lay_out(*self.app.size)
        chart = ChartPane(model, id="chart")
        yield TopBar(model, id="top")
        yield NoticeLine(model, id="notice")
        with Grid(id="body"):
            yield InferPane(model, id="infer")
            yield WorkerTable(model, id="workers")
            if "-wide" in classes:
                yield chart
            yield ChartPane(model, id="chart2", number="7", metric="train/entropy")
            yield DiscardPane(model, id="discards")
            yield LearnPane(model, id="learn")
            if "-wide" not in classes:
                yield chart
            yield HostStrip(model, id="host")
            yield LogView(model, id="log")
        yield Static("", id="too-small")
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin to feed and to look."""
        self.run_worker(self.feed.run(self.model), group="feed", exit_on_error=False)
        self.set_interval(TICK_S, self.tick)
        self.query_one("#infer").focus()
        self.call_after_refresh(self.tick)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A feed that fails is told; what it brought stays."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            logger.error("the feed of %s failed", self.model.title, exc_info=error)
            self.model.problems = (f"no more news: {type(error).__name__}: {error}",)
            self.model.touch(Part.HEAD)

    def tick(self) -> None:
        """Let every pane look at the model."""
        if self not in self.app.screen_stack[-2:]:
            return  # a screen above this one hides it; a modal does not
        self.query_one(TopBar).tick()
        if self._frozen:
            return
        self.query_one(NoticeLine).tick()
        body = self.query_one("#body")
        body.set_class(self.model.stale, "-stale")
        if self._has_news():
            for pane in body.query(RunPane):
                if pane.display:
                    pane.tick()
        self._tell_notice()

    def on_resize(self, event: Resize) -> None:
        """Choose the layout for the size."""
        width, height = event.size
        if "-small" in self._lay_out(width, height):
            enough = f"{SMALLEST[0]}x{SMALLEST[1]}"
            text = f"{width}x{height} is too small for the panes; {enough} is enough"
            self.query_one("#too-small", Static).update(text)

    def _has_news(self) -> bool:
        """Whether something has changed so lately that a pane may not have looked yet."""
        revision = sum(self.model.revisions.values())
        self._quiet_ticks = 0 if revision != self._revision else self._quiet_ticks + 1
        self._revision = revision
        return self._quiet_ticks <= _SLOWEST_TICKS

    def _lay_out(self, width: int, height: int) -> set[str]:
        """Set the classes that say where the panes are; styles are looked up once for all."""
        wanted = {
            "-wide": width >= WIDE,
            "-huge": width >= HUGE,
            "-tall": width < WIDE and height >= TALL,
            "-short": height < SHORT,
            "-small": width < SMALLEST[0] or height < SMALLEST[1],
        }
        classes = {name for name, applies in wanted.items() if applies}
        if classes != self.classes & wanted.keys():
            for name, applies in wanted.items():
                self.set_class(applies, name, update=False)
            self.update_node_styles()
            if body := self.query("#body"):
                order = "workers" if "-wide" in classes else "learn"
                chart = body.first().query_one("#chart")
                body.first().move_child(chart, after=body.first().query_one(f"#{order}"))
        return classes

    def action_pane_1(self) -> None:
        """Go to the infer queue."""
        self._go("infer")

    def action_pane_2(self) -> None:
        """Go to the workers."""
        self._go("workers")

    def action_pane_3(self) -> None:
        """Go to the discarded frames."""
        self._go("discards")

    def action_pane_4(self) -> None:
        """Go to the learn."""
        self._go("learn")

    def action_pane_5(self) -> None:
        """Go to the chart; where there is no room for it, it takes the screen."""
        self._go("chart")

    def action_pane_6(self) -> None:
        """Go to the log."""
        self._go("log")

    def action_zoom(self) -> None:
        """Give the focused pane the whole body, or take it back."""
        if self._zoomed is not None:
            self._zoom(None)
        elif isinstance(self.focused, RunPane):
            self._zoom(self.focused)

    def action_back(self) -> None:
        """Leave the zoom, else the screen."""
        if self._zoomed is not None:
            self._zoom(None)
        else:
            self.dismiss(None)

    def action_detach(self) -> None:
        """Leave; the run goes on."""
        self.dismiss(None)

    def action_freeze(self) -> None:
        """Hold the panes still, or let them go on."""
        self._frozen = self.query_one(TopBar).frozen = not self._frozen
        self.query_one(TopBar).draw()
        self.tick()

    def action_retry(self) -> None:
        """Connect now."""
        self.feed.retry_now()

    def action_copy_client_command(self) -> None:
        """Copy the command for an env client."""
        command = self.model.client_command()
        self.app.copy_to_clipboard(command)
        self.notify(command, title="copied")

    async def action_save(self) -> None:
        """Ask for a checkpoint."""
        try:
            await self.feed.send("save")
        except FeedError as error:
            self.notify(str(error), severity="error", title="not saved")

    def action_stop(self) -> None:
        """Ask, then stop."""
        from plugrl_tui.modals.stop import StopBox

        self.app.push_screen(StopBox(self.model, self.feed))

    def _go(self, name: str) -> None:
        pane = self.query_one(f"#{name}", RunPane)
        if self._zoomed not in {None, pane} or not pane.display:
            self._zoom(pane)
        pane.focus()

    def _zoom(self, pane: RunPane | None) -> None:
        if self._zoomed is not None:
            self._zoomed.zoomed = False
            self._zoomed.remove_class("-zoomed")
        self._zoomed = pane
        self.set_class(pane is not None, "-zoom")
        if pane is not None:
            pane.zoomed = True
            pane.add_class("-zoomed")
            pane.focus()
        for each in self.query_one("#body").query(RunPane):
            self.call_after_refresh(each.redraw)

    def _tell_notice(self) -> None:
        notice = self.model.notice
        if notice and notice != self._notice_seen:
            self.notify(notice, title=self.model.title)
        self._notice_seen = notice
        if self.model.link is Link.LIVE:
            self.model.notice = self._notice_seen = ""
