"""Attach to a server by its URL, with its key where it wants one."""

from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from plugrl.errors import UsageError
from plugrl_tui.actions import bindings
from plugrl_tui.core.feed import server_url
from plugrl_tui.modals.once import OnceModal
from plugrl_tui.widgets.key_line import KeyLine


class Attachment(NamedTuple):
    """What was typed."""

    url: str
    api_key: str | None


class AttachBox(OnceModal[Attachment | None]):
    """Two fields; enter attaches."""

    DEFAULT_CSS = """
    AttachBox { align: center middle; background: $background 60%; }
    AttachBox > Vertical { width: 64; max-width: 100%; height: auto; border: round $accent;
        background: $surface; padding: 0 1; }
    AttachBox Input { border: none; height: 1; background: $panel; padding: 0 1; }
    AttachBox Static { height: auto; }
    AttachBox #wrong { color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def compose(self) -> ComposeResult:
        """URL, key, and what is wrong with them."""
        with Vertical() as frame:
            frame.border_title = "Attach to a server"
            yield Static("address, such as gpu-box:8000")
            yield Input(id="url", compact=True)
            yield Static("its key, where it wants one; it is not kept")
            yield Input(id="key", password=True, compact=True)
            yield Static("", id="wrong", markup=False)
            yield Static("enter attaches, tab goes to the key, esc goes back")
        yield KeyLine()

    def on_input_submitted(self) -> None:
        """Attach, or say what is wrong."""
        try:
            url = server_url(self.query_one("#url", Input).value.strip())
        except UsageError as error:
            self.query_one("#wrong", Static).update(str(error))
            return
        self.dismiss(Attachment(url, self.query_one("#key", Input).value.strip() or None))

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)
