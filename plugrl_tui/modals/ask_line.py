"""One line to type in, at the bottom of the screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from plugrl_tui.actions import bindings
from plugrl_tui.modals.once import OnceModal


class AskLine(OnceModal[str | None]):
    """Enter gives what was typed, escape nothing."""

    DEFAULT_CSS = """
    AskLine { align: left bottom; background: transparent; }
    AskLine > Horizontal { height: 1; background: $panel; }
    AskLine Static { width: auto; padding: 0 1; color: $accent; }
    AskLine Input { width: 1fr; border: none; height: 1; background: $panel; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def __init__(self, question: str, value: str = "") -> None:
        """Ask ``question``, beginning with ``value``."""
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        """The question and the line."""
        with Horizontal():
            yield Static(self._question, markup=False)
            yield Input(self._value, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """That is it."""
        self.dismiss(event.value)

    def action_close(self) -> None:
        """Nothing was typed."""
        self.dismiss(None)
