"""What every modal is: a box in the middle, with a title and a line of keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from plugrl_tui.modals.once import OnceModal
from plugrl_tui.widgets.key_line import KeyLine


class Box(OnceModal[bool]):
    """Shows some lines; escape closes it, and its result is False then."""

    DEFAULT_CSS = """
    Box { align: center middle; background: $background 60%; }
    Box > VerticalScroll { width: 72; max-width: 100%; height: auto; max-height: 90%;
        border: round $accent; background: $surface; padding: 0 1;
        scrollbar-size-vertical: 1; }
    Box > VerticalScroll > Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []
    HEADING: ClassVar[str] = ""

    def compose(self) -> ComposeResult:
        """A frame around one text."""
        with VerticalScroll() as frame:
            frame.border_title = self.HEADING
            yield Static(self.text(), id="text", markup=False)
        yield KeyLine()

    def text(self) -> str:
        """What to show."""
        return ""

    def show(self) -> None:
        """Show the text as it is now."""
        self.query_one("#text", Static).update(self.text())

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(result=False)
