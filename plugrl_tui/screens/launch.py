"""LAUNCH: one form for everything that a run is made of, and the command that starts it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Resize
from textual.suggester import Suggester

from plugrl.errors import PlugRLError
from plugrl.runs import catalog
from plugrl_tui.actions import bindings
from plugrl_tui.core import (
    checkpoints,
    command_line,
    form,
    kept_draft,
    launcher,
    plugins,
    preflight,
    run_drafts,
)
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import IMPORTS_KEY, NAMES_KEY, Draft
from plugrl_tui.core.form import FormRow, View
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.preflight import Finding, Level
from plugrl_tui.screens.base import RoomScreen
from plugrl_tui.screens.drafts_of_runs import draft_from
from plugrl_tui.widgets.editor import Editor, PathSuggester, suggest_names
from plugrl_tui.widgets.field_table import FieldTable
from plugrl_tui.widgets.key_line import KeyLine
from plugrl_tui.widgets.launch_lines import CommandLines, FieldLines, LaunchHeader

LOW, LOWEST = 14, 9
"""Lines below which the table has no border, and below which there is only the table."""
FIND = "find"
NAME = "run.exp_name"
CONDUCT_WORDS = "env clients, Prefect, restarts, tracking, plug-ins, folder"
"""What a warm start takes from its parent, where the person has not chosen otherwise."""


class LaunchScreen(RoomScreen):
    """A draft, kept when it is left."""

    ACTION_GROUP = "launch"
    PANE_GROUPS = ("list",)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("launch")]
    DEFAULT_CSS = """
    LaunchScreen FieldTable { height: 1fr; }
    LaunchScreen.-low FieldTable { border: none; }
    LaunchScreen.-lowest FieldLines, LaunchScreen.-lowest CommandLines { display: none; }
    """

    def __init__(self, *, draft: Draft | None = None, origin: str = "") -> None:
        """Show a draft.

        Args:
            draft: what to begin with; None takes the one that was kept.
            origin: where it comes from, such as ``from hopper-s3``.
        """
        super().__init__()
        self.draft = kept_draft.kept() if draft is None else draft
        self._is_new = draft is None
        self.named = self.draft
        """The draft with the name that it is given where the person gave none."""
        self.origin = origin
        self._findings: Mapping[str, Finding] = {}
        self._importing: tuple[str, ...] | None = None

    def compose(self) -> ComposeResult:
        """Header, table, what is said of a field, editor, command, footer."""
        yield LaunchHeader(id="head")
        yield FieldTable(self.draft, id="fields")
        yield FieldLines(id="field")
        yield Editor(id="editor")
        yield CommandLines(id="command")
        yield KeyLine()

    @property
    def table(self) -> FieldTable:
        """The table."""
        return self.query_one(FieldTable)

    @property
    def errors(self) -> dict[str, str]:
        """What keeps the draft from starting, by row."""
        wrong = {k: f.sentence for k, f in self._findings.items() if f.level is Level.ERROR}
        return {**wrong, **self.draft.verdict.errors}

    def on_mount(self) -> None:
        """Show the draft, with the plug-ins that the app was given."""
        self.table.focus()
        imports = (*self.draft.imports, *self._imports_of_app)
        self.change(replace(self.draft, imports=tuple(dict.fromkeys(imports))))

    @property
    def _imports_of_app(self) -> tuple[str, ...]:
        # A run that has been is made again as it was.
        return self.plugrl_app.imports if self._is_new else ()

    def on_resize(self, event: Resize) -> None:
        """Long commands take more lines where there are more."""
        self.set_class(event.size.height < LOW, "-low")
        self.set_class(event.size.height < LOWEST, "-lowest")
        self._show_lines()

    def change(self, draft: Draft) -> None:
        """Take another draft, keep it, and check what only the machine knows."""
        self.draft, self.named = draft, _named(draft)
        self._findings = {}
        with suppress(OSError):  # a full disk keeps nobody from launching
            kept_draft.keep(draft)
        self._show()
        if plugins.is_pending(draft.imports) and draft.imports != self._importing:
            self._importing = draft.imports
            self._import(draft.imports)
        if not draft.verdict.errors:
            self._examine(self.named)

    @work(exclusive=True, group="import")
    async def _import(self, imports: tuple[str, ...]) -> None:
        await plugins.load(imports)
        self._importing = None
        # Names that were unknown may be known now, so that all is judged anew.
        self.change(replace(self.draft))

    def _show(self, view: View | None = None) -> None:
        view = view or self.table.view
        notes = {k: f.sentence for k, f in self._findings.items() if f.level is Level.ERROR}
        name = self.named.texts.get(NAME)
        hints = {NAME: f"takes {name}"} if name is not None else {}
        self.table.show(self.draft, replace(view, notes=notes, hints=hints))
        self._show_lines()

    def _show_lines(self) -> None:
        changed, errors = len(self.draft.changed), len(self.errors)
        self.query_one(LaunchHeader).show(self.origin, changed, errors)
        self.query_one(FieldLines).show(self.table.current, self._findings)
        self.query_one(CommandLines).show(self.named)

    @work(thread=True, exclusive=True, group="preflight")
    def _examine(self, draft: Draft) -> None:
        found = preflight.findings(draft)
        self.app.call_from_thread(self._take_findings, draft, found)

    def _take_findings(self, draft: Draft, found: list[Finding]) -> None:
        if draft == self.named and self.is_mounted:
            self._findings = {finding.key: finding for finding in found}
            self._show()

    def on_cursor_pane_moved(self) -> None:
        """Say what the field under the cursor is."""
        self.query_one(FieldLines).show(self.table.current, self._findings)

    def on_field_table_pasted(self, event: FieldTable.Pasted) -> None:
        """Take flags that were pasted."""
        self._take_command(event.text)

    def on_editor_command_pasted(self, event: Editor.CommandPasted) -> None:
        """Take flags that were pasted in place of a value."""
        self.table.focus()
        self._take_command(event.text)

    def on_editor_done(self, event: Editor.Done) -> None:
        """Take what was typed."""
        self.table.focus()
        if event.text is None:
            return
        if event.purpose == FIND:
            self._show(replace(self.table.view, find=event.text))
            if event.text:
                self.table.go_to_first_field()
        else:
            self._set(event.purpose, event.text)

    def action_edit(self) -> None:
        """Open a group, turn a switch, take the next choice, or open the editor."""
        row = self.table.current
        if row is None:
            return
        if row.is_group:
            self._show(self.table.view.toggled(row.key))
        elif row.choices:
            self._choose(row, 1)
        else:
            self._edit(row)

    def action_forth(self) -> None:
        """The next choice."""
        row = self.table.current
        if row is not None and (row.is_group or row.choices):
            self.action_edit()

    def action_back(self) -> None:
        """The choice before."""
        row = self.table.current
        if row is not None and row.choices:
            self._choose(row, -1)

    def action_default(self) -> None:
        """The default again."""
        if self.table.current is not None:
            self.change(form.without_value(self.draft, self.table.current.key))

    def action_only_changed(self) -> None:
        """Only what differs, or all."""
        view = self.table.view
        self._show(replace(view, only_changed=not view.only_changed))

    def action_find(self) -> None:
        """Words to find."""
        self._editor().open(FIND, self.table.view.find, placeholder="words in names and helps")

    def action_next_error(self) -> None:
        """Go to the next row that is wrong."""
        errors = list(self.errors)
        if not errors:
            self.notify("nothing is wrong")
            return
        current = self.table.current
        place = errors.index(current.key) + 1 if current and current.key in errors else 0
        key = errors[place % len(errors)]
        self.table.open_at("names.policy" if key == NAMES_KEY else key)

    def action_clear(self) -> None:
        """Begin anew."""
        self.origin = ""
        self.change(Draft(imports=self.plugrl_app.imports))

    def action_copy_command(self) -> None:
        """Copy the command."""
        self._copy(command_line.command_text, "the command")

    def action_copy_client_command(self) -> None:
        """Copy the env clients' command."""
        self._copy(command_line.client_text, "the env clients' command")

    def action_warm(self) -> None:
        """Choose a checkpoint."""
        if checkpoints.WARM_FIELD not in self.draft.specs:
            algorithm = self.draft.names.algorithm
            self.notify(f"{algorithm} can't start from a checkpoint", severity="warning")
            return
        from plugrl_tui.modals.checkpoint import CheckpointPicker

        self.app.push_screen(CheckpointPicker(draft=self.draft), self._take_checkpoint)

    def action_start(self) -> None:
        """Check everything and start."""
        if self.draft.verdict.errors:
            self._say_what_is_wrong()
        else:
            # What this machine lacked when it was last looked at it may have by now.
            self._start(self.named)

    def _say_what_is_wrong(self) -> None:
        self.action_next_error()
        self.notify(next(iter(self.errors.values())), severity="error")

    @work(thread=True, exclusive=True, group="start")
    def _start(self, draft: Draft) -> None:
        found = preflight.findings(draft)
        if any(finding.level is Level.ERROR for finding in found):
            self.app.call_from_thread(self._refuse, found)
            return
        try:
            launched = launcher.launch(draft)
        except OSError as error:
            self.app.call_from_thread(self.notify, f"can't start: {error}", severity="error")
            return
        self.app.call_from_thread(self._watch, launched, draft)

    def _refuse(self, found: list[Finding]) -> None:
        self._findings = {finding.key: finding for finding in found}
        self._show()
        self._say_what_is_wrong()

    def _watch(self, launched: Launched, draft: Draft) -> None:
        from plugrl_tui.modals.starting import Starting

        self.plugrl_app.launched.append(launched)
        key = draft.value("server.api_key")
        with_prefect = draft.value("flow.prefect")
        starting = Starting(launched=launched, with_prefect=with_prefect)

        def started(watch: bool | None) -> None:  # noqa: FBT001 -- a screen's result
            if not starting.has_failed:
                # What is left in the form is the next run: with its own name, and not a resume.
                self.change(self.draft.without_text(NAME).without_text("run.resume"))
            if watch:
                # The form goes: what is behind MONITOR is the list of runs.
                self.dismiss()
                self.plugrl_app.open_monitor(str(launched.run_dir), api_key=key)

        self.app.push_screen(starting, started)

    def action_leave(self) -> None:
        """Go back; a filter goes first."""
        view = self.table.view
        if view.find or view.only_changed:
            self._show(replace(view, find="", only_changed=False))
        else:
            self.dismiss()

    def _copy(self, text_of: Callable[[Draft], str], what: str) -> None:
        if self.draft.verdict.errors:
            self.notify("there is no command before all fields are right", severity="warning")
            return
        self.app.copy_to_clipboard(text_of(self.named))
        self.notify(f"copied {what}")

    def _choose(self, row: FormRow, by: int) -> None:
        text = form.next_choice(row, by)
        if text is not None:
            self._set(row.key, text)

    def _set(self, key: str, text: str) -> None:
        before = self.draft.names.policy
        try:
            draft = form.with_value(self.draft, key, text)
        except ValueError as error:
            self.notify(str(error), severity="error")
            return
        if key == IMPORTS_KEY:
            plugins.forget(draft.imports)  # they may have been corrected meanwhile
            self._importing = None
        self.change(draft)
        after = self.draft.names.policy
        if after != before and key != "names.policy":
            self.notify(f"{before} does not fit, took {after}")

    def _edit(self, row: FormRow) -> None:
        suggester: Suggester | None = PathSuggester() if row.is_path else None
        if row.suggestions:
            suggester = suggest_names(row.suggestions)
        self._editor().open(
            row.key,
            "" if row.suggestions else row.text,
            placeholder=f"{row.label}, now {row.shown}",
            suggester=suggester,
            password=row.shown != row.text,
        )

    def _editor(self) -> Editor:
        return self.query_one(Editor)

    def _take_command(self, text: str) -> None:
        try:
            draft = command_line.read(text, self.draft)
        except CommandError as error:
            self.notify(str(error), severity="error")
            return
        self.change(draft)
        self.notify("took the pasted flags")

    def _take_checkpoint(self, step_dir: Path | None) -> None:
        if step_dir is not None:
            self._start_from(step_dir)

    @work(exclusive=True, group="warm")
    async def _start_from(self, step_dir: Path) -> None:
        parent = await self._parent_of(step_dir)
        draft = self.draft  # only now: fields may have been changed while plug-ins were imported
        if parent is not None:
            draft = run_drafts.conducted_like(draft, parent)
            self.notify(f"conducted like {step_dir.parent.name}: {CONDUCT_WORDS}")
        self.change(draft.with_text(checkpoints.WARM_FIELD, str(step_dir)))
        self.table.open_at(checkpoints.WARM_FIELD)

    async def _parent_of(self, step_dir: Path) -> Draft | None:
        """A draft of the run that saved a checkpoint; None where there is none that can be read."""
        try:
            run = catalog.find_run(str(step_dir.parent))
        except PlugRLError:
            return None  # it lies outside of any run's folder
        return await draft_from(self.plugrl_app, run, run_drafts.draft_of)


def _named(draft: Draft) -> Draft:
    if draft.verdict.errors or draft.value(NAME) is not None:
        return draft
    return draft.with_text(NAME, preflight.proposed_name(draft))
