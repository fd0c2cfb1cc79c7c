"""Deleting a run: what will be lost, and its name to be typed."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from plugrl_tui.actions import bindings
from plugrl_tui.core.history import RunRow
from plugrl_tui.modals.once import OnceModal


class DeleteBox(OnceModal[bool]):
    """Answers whether the run's name was typed."""

    DEFAULT_CSS = """
    DeleteBox { align: center middle; background: $background 60%; }
    DeleteBox > Vertical { width: 72; max-width: 100%; height: auto; border: round $error;
        background: $surface; padding: 0 1; }
    DeleteBox Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def __init__(self, *, row: RunRow) -> None:
        """Ask about a run."""
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        """The question and a line to type in."""
        with Vertical() as frame:
            frame.border_title = "Delete a run"
            yield Static(self._question(), markup=False)
            yield Input(id="name", placeholder=self._row.path.name, compact=True)
            yield Static("enter deletes it, esc keeps it", id="said", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Delete it if the name is right."""
        if event.value == self._row.path.name:
            self.dismiss(result=True)
        else:
            said = f"expected {self._row.path.name}, got {event.value or 'nothing'}; esc keeps it"
            self.query_one("#said", Static).update(said)

    def action_close(self) -> None:
        """Keep it."""
        self.dismiss(result=False)

    def _question(self) -> str:
        folder = self._row.path
        steps = [path.name for path in folder.glob("[0-9]*") if path.is_dir()]
        saved = f"{len(steps)} checkpoints" if len(steps) != 1 else "1 checkpoint"
        return (
            f"{folder}\nwith {saved}, its metrics and its log goes for good.\n\n"
            f"Type its name to delete it:"
        )


def why_kept(row: RunRow, *, lives: bool) -> str | None:
    """Why a run can't be deleted; None where it can.

    Args:
        row: the run.
        lives: whether a process answers for it.
    """
    if lives:
        how = "its process is still ending, try again" if row.state.final else "stop it first"
        return f"{row.name} is {row.state}; {how}"
    if not row.path.exists():
        return f"{row.path} is gone already"
    return None
