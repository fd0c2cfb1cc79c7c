"""A modal that is left once, whatever is pressed how often, or what a timer still wants."""

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

ResultT = TypeVar("ResultT")


class OnceModal(ModalScreen[ResultT]):
    """Every modal of the app."""

    def dismiss(self, result: ResultT | None = None) -> AwaitComplete:
        """Leave the modal, where it is the screen on top.

        Textual would take away whichever screen is on top then, and hand the result over again.
        """
        return super().dismiss(result) if self.is_active else AwaitComplete()
