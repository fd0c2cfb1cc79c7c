"""Something can't be done: one sentence, and a way on."""

from typing import ClassVar

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.modals.box import Box


class ErrorBox(Box):
    """Shows what an error says."""

    HEADING = "That can't be done"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def __init__(self, error: Exception | str) -> None:
        """Show ``error``."""
        super().__init__()
        self._sentence = str(error)

    def text(self) -> str:
        """The sentence."""
        return f"{self._sentence}\n\nesc goes back"
