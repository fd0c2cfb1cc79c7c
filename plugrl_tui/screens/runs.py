"""RUNS: every run that this machine knows of, and what can be done with each."""

import asyncio
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Resize, ScreenResume
from textual.widgets import Static

from plugrl_tui.actions import bindings
from plugrl_tui.core.run_filter import matcher
from plugrl_tui.screens.base import RoomScreen
from plugrl_tui.screens.drafts_of_runs import draft_from
from plugrl_tui.widgets.editor import Editor
from plugrl_tui.widgets.key_line import KeyLine
from plugrl_tui.widgets.run_detail import RunDetail
from plugrl_tui.widgets.run_table import RunTable

if TYPE_CHECKING:
    from pathlib import Path

    from plugrl.runs.catalog import FoundRun
    from plugrl_tui.core.draft import Draft
    from plugrl_tui.core.history import History, Listing, RunRow
    from plugrl_tui.core.remembered import Remembered, RememberedRow

REFRESH_S = 2.0
ASK_PREFECT_S = 30.0
"""Between two looks for runs that only Prefect remembers."""
WIDE = 110
LOW = 18
"""Lines below which there is no room beside the table."""
_OF_A_RUN = frozenset({"watch", "copy", "warm", "resume", "mark", "compare", "page"})
_NO_RUNS = [
    "no runs yet",
    "",
    "n  makes up a new run and starts it",
    "a  watches a server that runs already, here or elsewhere",
    "?  shows all keys",
]


class RunsScreen(RoomScreen):
    """The first screen."""

    ACTION_GROUP = "runs"
    PANE_GROUPS = ("list",)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("runs")]
    DEFAULT_CSS = """
    RunsScreen #title { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    RunsScreen #both { layout: vertical; height: 1fr; }
    RunsScreen RunTable { height: 1fr; }
    RunsScreen RunDetail { height: 8; }
    RunsScreen.-wide #both { layout: horizontal; }
    RunsScreen.-wide RunTable { width: 2fr; height: 1fr; }
    RunsScreen.-wide RunDetail { width: 1fr; height: 1fr; }
    RunsScreen.-empty RunDetail, RunsScreen.-low RunDetail { display: none; }
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        super().__init__()
        self._history: History | None = None
        self._listing: Listing | None = None
        self._wrong: str | None = None
        self._filter = ""
        self._flows: dict[str, str] = {}
        self._remembered: Remembered | None = None
        self._only: tuple[RunRow, ...] = ()
        """Runs that only Prefect remembers."""

    def compose(self) -> ComposeResult:
        """The table, what is said of one run, the filter."""
        yield Static("plugrl ▸ runs", id="title", markup=False)
        with Container(id="both"):
            yield RunTable(id="runs")
            yield RunDetail(id="detail")
        yield Editor(id="filter")
        yield KeyLine()

    @property
    def table(self) -> RunTable:
        """The table."""
        return self.query_one(RunTable)

    def on_mount(self) -> None:
        """Look, and look again now and then."""
        self.table.focus()
        self._show()
        # The first picture waits neither for the disk nor for what reads it.
        self.call_after_refresh(self.read)
        self.set_interval(REFRESH_S, self._read_if_seen)
        self.set_interval(ASK_PREFECT_S, self._ask_if_seen)

    def on_resize(self, event: Resize) -> None:
        """One column or two."""
        self.set_class(event.size.width >= WIDE, "-wide")
        self.set_class(event.size.height < LOW, "-low")

    def on_screen_resume(self, _event: ScreenResume) -> None:
        """Something may have happened while another screen was shown."""
        self.table.await_latest(self.plugrl_app.launched)
        if self._listing is not None:
            self.read()

    def _read_if_seen(self) -> None:
        if self.is_current:
            self.read()

    @work(thread=True, exclusive=True, group="read")
    def read(self) -> None:
        """Read all runs."""
        from plugrl_tui.core.history import History, Listing

        self._history = self._history or History()
        try:
            listing, wrong = self._history.read(), None
        except OSError as error:
            listing, wrong = Listing(), f"can't read the catalogue of runs: {error}"
        self.app.call_from_thread(self._take, listing, wrong)

    def _ask_if_seen(self) -> None:
        if self.is_current and self._listing is not None:
            self._ask_for_others(self._listing.rows)

    @work(thread=True, exclusive=True, group="others")
    def _ask_for_others(self, rows: "tuple[RunRow, ...]") -> None:
        from plugrl_tui.core.remembered import Remembered

        self._remembered = self._remembered or Remembered()
        self.app.call_from_thread(self._take_others, self._remembered.read(rows))

    def _take_others(self, only: "tuple[RunRow, ...]") -> None:
        if only != self._only:
            self._only = only
            self._show()

    def _take(self, listing: "Listing", wrong: str | None) -> None:
        if self._listing is None:
            self._ask_for_others(listing.rows)
        if listing is not self._listing or wrong != self._wrong:
            self._listing, self._wrong = listing, wrong
            self._show()

    def _show(self) -> None:
        rows = self._listing.rows if self._listing is not None else ()
        rows = tuple(sorted((*rows, *self._only), key=lambda row: -row.run.record.created_at))
        self.set_class(not rows, "-empty")
        shown = list(filter(matcher(self._filter), rows))
        title = f"Runs {len(shown)} of {len(rows)}: {self._filter}" if self._filter else "Runs"
        self.table.show(shown, title=title, empty=self._words_for_none(bool(rows)))
        if self._listing is not None:
            self._title(self._listing.summary(num_only_in_prefect=len(self._only)))

    def _title(self, words: str) -> None:
        text = "plugrl ▸ runs" + (f"     {words}" if words else "")
        title = self.query_one("#title", Static)
        if title.content != text:
            title.update(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what is done with a run only where there is one."""
        return bool(self.table.runs) if action in _OF_A_RUN and self.is_mounted else True

    def _words_for_none(self, some: bool) -> list[str]:  # noqa: FBT001
        if self._wrong is not None:
            return [self._wrong, "", "it is looked at again every two seconds"]
        if self._listing is None:
            return ["reading"]
        return ["no run is like that; escape shows all again"] if some else _NO_RUNS

    def on_cursor_pane_moved(self) -> None:
        """Tell of the run at the cursor."""
        self.refresh_bindings()
        run = self.table.current
        status = run.run.status if run is not None else None
        flow_id = status.flow_run_id if status is not None else None
        self.query_one(RunDetail).show(run, self._flows.get(flow_id or ""))
        if flow_id is not None and (flow_id not in self._flows or (run and run.lives)):
            self._ask_prefect(flow_id)

    @work(thread=True, exclusive=True, group="prefect")
    def _ask_prefect(self, flow_run_id: str) -> None:
        from plugrl_tui.core.prefect_link import flow_summary

        summary = flow_summary(flow_run_id)
        self.app.call_from_thread(self._take_flow, flow_run_id, summary)

    def _take_flow(self, flow_run_id: str, summary: str) -> None:
        self._flows[flow_run_id] = summary
        run = self.table.current
        if run is not None and run.run.status and run.run.status.flow_run_id == flow_run_id:
            self.query_one(RunDetail).show(run, summary)

    def on_editor_done(self, event: Editor.Done) -> None:
        """Take the filter."""
        self.table.focus()
        if event.text is None:
            return
        try:
            matcher(event.text)
        except ValueError as error:
            self.notify(str(error), severity="warning")
            return
        self._filter = event.text.strip()
        self._show()

    def action_find(self) -> None:
        """Filter."""
        words = "words, state:failed, algo:ppo, env:hopper, lr<1e-3, return>2000"
        self.query_one(Editor).open("filter", self._filter, placeholder=words)

    def action_no_filter(self) -> None:
        """All runs, no marks."""
        self._filter = ""
        self.table.marked.clear()
        self._show()

    def action_new(self) -> None:
        """A new run."""
        self.plugrl_app.open("launch")

    def action_watch(self) -> None:
        """MONITOR."""
        from plugrl_tui.core.remembered import RememberedRow
        from plugrl_tui.modals.remembered import RememberedBox

        run = self._chosen()
        if isinstance(run, RememberedRow):
            self.app.push_screen(RememberedBox(run))
        elif run is not None:
            self.plugrl_app.open_monitor(str(run.path))

    def action_page(self) -> None:
        """Its page of Prefect."""
        from plugrl_tui.browsing import open_page

        run = self._chosen()
        if run is None:
            return
        if run.page is None:
            self.notify(f"{run.name} has no page: Prefect did not record it", severity="warning")
        else:
            open_page(self.app, run.page)

    def action_attach(self) -> None:
        """A server by its URL."""
        self.plugrl_app.ask_attach()

    def action_mark(self) -> None:
        """Mark."""
        if self._chosen("marked, to be compared") is not None:
            self.table.toggle_mark()

    def action_compare(self) -> None:
        """COMPARE."""
        from plugrl_tui.core.comparison import MAX_RUNS

        marked = [row for row in self.table.runs if str(row.path) in self.table.marked]
        if not 2 <= len(marked) <= MAX_RUNS:
            words = f"mark 2 to {MAX_RUNS} runs with space first, {len(marked)} are marked"
            self.notify(words, severity="warning")
            return
        self.plugrl_app.open("compare", runs=tuple(row.path for row in marked))

    def action_copy(self) -> None:
        """A run like this one."""
        from plugrl_tui.core.run_drafts import copied

        if (run := self._chosen("copied")) is not None:
            self._launch(run, copied, f"like {run.name}")

    def action_resume(self) -> None:
        """Go on with it."""
        run = self._chosen("resumed")
        if run is None:
            return
        if run.has_process():
            words = "its process is still ending, try again"
            words = words if run.state.final else "enter watches it"
            self.notify(f"{run.name} is {run.state}: {words}", severity="warning")
        else:
            self._resume(run)

    @work(exclusive=True, group="resume")
    async def _resume(self, run: "RunRow") -> None:
        from plugrl_tui.core import checkpoints
        from plugrl_tui.core.run_drafts import resumed

        # Whether a checkpoint is whole is told by its hashes, and models may be large.
        if await asyncio.to_thread(checkpoints.newest_whole, run.path) is None:
            words = f"{run.name} has saved no checkpoint to go on from; N starts it anew"
            self.notify(words, severity="warning")
        else:
            self._launch(run, resumed, f"resumes {run.name}")

    @work(exclusive=True, group="draft")
    async def action_warm(self) -> None:
        """Another run from one of its checkpoints."""
        from plugrl_tui.core import checkpoints
        from plugrl_tui.core.run_drafts import copied
        from plugrl_tui.modals.checkpoint import CheckpointPicker

        run = self._chosen("started from")
        draft = None if run is None else await draft_from(self.plugrl_app, run.run, copied)
        if run is None or draft is None:
            return
        if checkpoints.WARM_FIELD not in draft.specs:
            words = f"{draft.names.algorithm} can't start from a checkpoint"
            self.notify(words, severity="warning")
            return

        def take(step_dir: "Path | None") -> None:
            if step_dir is not None:
                warm = draft.with_text(checkpoints.WARM_FIELD, str(step_dir))
                origin = f"from {step_dir.parent.name} @ {int(step_dir.name):,}"
                self.plugrl_app.open("launch", draft=warm, origin=origin)

        self.app.push_screen(CheckpointPicker(draft=draft, only=run.path), take)

    def action_copy_command(self) -> None:
        """Copy its command."""
        if (run := self._chosen("copied")) is not None:
            self.app.copy_to_clipboard(shlex.join(run.run.record.argv))
            self.notify("copied the command that began it")

    def action_delete(self) -> None:
        """Delete it, once its name is typed."""
        from plugrl_tui.core import remembered
        from plugrl_tui.modals.delete import DeleteBox, why_kept

        run = self._chosen()
        if isinstance(run, remembered.RememberedRow):
            self._forget(run)
            return
        if run is None:
            return

        reason = why_kept(run, lives=run.has_process())
        if reason is not None:
            self.notify(reason, severity="warning")
            return

        def answered(yes: bool | None) -> None:  # noqa: FBT001
            if yes:
                self._delete(run)

        self.app.push_screen(DeleteBox(row=run), answered)

    def _forget(self, run: "RememberedRow") -> None:
        from plugrl_tui.core import remembered

        try:
            remembered.forget(run.flow_run_id)
        except OSError as error:
            self.notify(f"can't forget {run.name}: {error}", severity="error")
            return
        self._take_others(tuple(row for row in self._only if row.path != run.path))
        self.notify(f"{run.name} is forgotten here; Prefect keeps it")

    @work(thread=True, group="delete")
    def _delete(self, run: "RunRow") -> None:
        from plugrl_tui.core.deleting import delete

        words, severity = delete(run)
        self.app.call_from_thread(self.notify, words, severity=severity)
        self.app.call_from_thread(self.read)

    def _chosen(self, what: str | None = None) -> "RunRow | None":
        """The run at the cursor; None, and told why, where it can't be done with it.

        Args:
            what: what is to be done that wants a folder, such as ``resumed``.
        """
        run = self.table.current
        if run is None:
            self.notify("there is no run here", severity="warning")
        elif what is not None and run.where != "folder":
            from plugrl_tui.core.remembered import without_folder

            self.notify(without_folder(run, what), severity="warning")
            return None
        return run

    @work(exclusive=True, group="draft")
    async def _launch(
        self, run: "RunRow", make: "Callable[[FoundRun], Draft]", origin: str
    ) -> None:
        draft = await draft_from(self.plugrl_app, run.run, make)
        if draft is not None:
            self.plugrl_app.open("launch", draft=draft, origin=origin)
