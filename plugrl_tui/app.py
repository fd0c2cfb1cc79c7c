"""The app: opens screens, keeps the theme and the keys, and leaves without ending any run."""

from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.screens.base import make_screen


class PlugRLApp(App[None]):
    """``plugrl-tui``."""

    TITLE = "plugrl"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, *, first: str = "runs", **options: Any) -> None:
        """Show the screen called ``first``, made with ``options``, above RUNS."""
        super().__init__()
        self._first = first
        self._options = options

    def on_mount(self) -> None:
        """Open the first screens."""
        self.open("runs")
        if self._first != "runs":
            self.open(self._first, **self._options)

    def open(self, name: str, **options: Any) -> None:
        """Show another screen above this one; ``escape`` comes back."""
        self.push_screen(make_screen(name, **options))

    def open_monitor(self, target: str, *, api_key: str | None = None) -> None:
        """Watch a run: its name, its folder, or its server's URL."""
        self.open("monitor", target=target, api_key=api_key)

    def action_leave(self) -> None:
        """End the app."""
        self.exit()
