"""The checkpoints of all runs, to start another from; one that does not fit says why."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from plugrl.runs import catalog
from plugrl.runs.home import typed_path
from plugrl.runs.moments import ago
from plugrl_tui.actions import bindings
from plugrl_tui.core import checkpoints
from plugrl_tui.core import format as fmt
from plugrl_tui.core.checkpoints import CheckpointRow
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.glyphs import CROSS
from plugrl_tui.modals.once import OnceModal
from plugrl_tui.widgets.editor import Editor, PathSuggester
from plugrl_tui.widgets.key_line import KeyLine
from plugrl_tui.widgets.list_pane import CursorPane
from plugrl_tui.widgets.pane import Row, Span

_FIXED_WIDTH = 48
"""Columns of all but the run's name."""


class CheckpointTable(CursorPane):
    """Step, return, time and size of each; under them what is said of the one at the cursor."""

    def __init__(self, *, id: str) -> None:
        """Begin without any."""
        super().__init__(id=id)
        self.found: list[CheckpointRow] | None = None
        self.nothing = "no run has saved a checkpoint yet"
        """What is said where there are none."""

    @property
    def current(self) -> CheckpointRow | None:
        """The one at the cursor."""
        return self.found[self.cursor] if self.found else None

    def show(self, found: list[CheckpointRow]) -> None:
        """Show these; the cursor goes to the first that fits."""
        self.found = found
        fitting = (place for place, row in enumerate(found) if row.refusal is None)
        self.put(next(fitting, 0))

    def num_lines(self) -> int:
        """Checkpoints that were found."""
        return len(self.found or ())

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """A heading, the checkpoints, and a sentence."""
        if self.found is None:
            return [[Span("looking for checkpoints", "dim")]]
        if not self.found:
            return [[Span(f"{self.nothing}; / takes a path", "dim")]]
        name_width = max(width - _FIXED_WIDTH, 8)
        heading = f"  {'run':<{name_width}} {'step':>12} {'return':>8} {'saved':>11} {'size':>10}"
        lines: list[Row] = [[Span(heading, "head")]]
        for place in self.around_cursor(max(height - 4, 1)):
            style = "cursor" if place == self.cursor else ""
            lines.append(_line(self.found[place], name_width, style))
        lines += [[]] * (height - len(lines) - 2)
        return [*lines, *self._said(width)]

    def _said(self, width: int) -> list[Row]:
        row = self.current
        assert row is not None
        if row.refusal is None:
            return [[Span("it fits", "good")], [Span(fmt.fitted(str(row.path), width), "dim")]]
        words = fmt.fitted(row.refusal, 2 * width)
        cut = words.rfind(" ", 0, width) if len(words) > width else len(words)
        return [[Span(words[:cut], "bad")], [Span(words[cut:].strip(), "bad")]]


class CheckpointPicker(OnceModal[Path | None]):
    """Chooses a step folder for a draft."""

    DEFAULT_CSS = """
    CheckpointPicker { align: center middle; background: $background 60%; }
    CheckpointPicker > Vertical { width: 96; max-width: 100%; height: 80%; }
    CheckpointPicker CheckpointTable { background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("picker")]

    def __init__(self, *, draft: Draft, only: Path | None = None) -> None:
        """Offer checkpoints.

        Args:
            draft: what they have to fit.
            only: the folder of the one run whose checkpoints are offered; None offers all.
        """
        super().__init__()
        self._draft = draft
        self._only = only

    def compose(self) -> ComposeResult:
        """The table and an editor."""
        with Vertical():
            table = CheckpointTable(id="checkpoints")
            table.title = "Start from a checkpoint"
            if self._only is not None:
                table.nothing = f"{self._only.name} has saved no checkpoint yet"
            yield table
            yield Editor(id="path")
        yield KeyLine()

    def on_mount(self) -> None:
        """Look for them."""
        self.query_one(CheckpointTable).focus()
        self._look()

    @work(thread=True, exclusive=True)
    def _look(self) -> None:
        found: list[CheckpointRow] = []
        for folder in self._folders():
            try:
                found += checkpoints.rows(folder, self._draft)
            except OSError:
                continue  # pruned while we looked
        self.app.call_from_thread(self.query_one(CheckpointTable).show, found)

    def _folders(self) -> list[Path]:
        if self._only is not None:
            return [self._only]
        try:
            return [run.path for run in catalog.find_runs().found]
        except OSError as error:
            words = f"can't read the catalogue of runs: {error}"
            self.app.call_from_thread(self.notify, words, severity="error")
            return []

    def action_take(self) -> None:
        """Take the one at the cursor, if it fits."""
        row = self.query_one(CheckpointTable).current
        if row is None:
            return
        if row.refusal is not None:
            self.notify(row.refusal, severity="warning")
            return
        self.dismiss(row.path)

    def action_type(self) -> None:
        """Type a path."""
        self.query_one(Editor).open(
            "path", "", placeholder="path of a step folder", suggester=PathSuggester()
        )

    def on_editor_done(self, event: Editor.Done) -> None:
        """Take the path, if it fits."""
        self.query_one(CheckpointTable).focus()
        if not event.text:
            return
        self._take_path(typed_path(event.text).absolute())

    @work(exclusive=True, group="path")
    async def _take_path(self, path: Path) -> None:
        # A checkpoint is whole where its hashes are right, and models may be large.
        refusal = await asyncio.to_thread(checkpoints.refusal, path, self._draft)
        if refusal is None:
            self.dismiss(path)
        else:
            self.notify(refusal, severity="warning")

    def action_close(self) -> None:
        """Take none."""
        self.dismiss(None)


def _line(row: CheckpointRow, name_width: int, style: str) -> Row:
    name = fmt.fitted(row.run, name_width)
    mark = CROSS if row.refusal else " "
    return [
        Span(f"{mark} ", "bad"),
        Span(
            f"{name:<{name_width}} {row.step:>12,} {fmt.value(row.episode_return):>8} "
            f"{_saved_at(row):>11} {fmt.size(row.num_bytes):>10}",
            style or ("dim" if row.refusal else ""),
        ),
    ]


def _saved_at(row: CheckpointRow) -> str:
    return fmt.MISSING if row.saved_at is None else ago(row.saved_at)
