"""A run that only Prefect remembers: what it knows of it."""

from typing import ClassVar

from textual import work
from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core import remembered
from plugrl_tui.core.remembered import RememberedRow
from plugrl_tui.modals.box import Box


class RememberedBox(Box):
    """Its attempts, and where its page is."""

    HEADING = "Only in Prefect"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def __init__(self, row: RememberedRow) -> None:
        """Tell of ``row``."""
        super().__init__()
        self._row = row
        self._lines = ["asking Prefect"]

    def on_mount(self) -> None:
        """Ask."""
        self._ask()

    def text(self) -> str:
        """What it is, what became of it, and a way on."""
        row = self._row
        return "\n".join(
            [
                f"{row.name}: {remembered.NO_FOLDER}.",
                "Without the folder it can't be watched, resumed, copied or compared.",
                "",
                *self._lines,
                "",
                f"its page: {row.page}",
                "",
                "esc goes back; o in the list opens the page, D forgets the run here",
            ]
        )

    @work(thread=True, exclusive=True)
    def _ask(self) -> None:
        lines = remembered.story(self._row)
        self.app.call_from_thread(self._take, lines)

    def _take(self, lines: list[str]) -> None:
        self._lines = lines
        self.show()
