"""What every screen has: a group of actions, and a way to be opened by name."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.await_complete import AwaitComplete
from textual.screen import Screen

if TYPE_CHECKING:
    from plugrl_tui.app import PlugRLApp

SCREENS: Mapping[str, str] = {
    "runs": "plugrl_tui.screens.runs:RunsScreen",
    "launch": "plugrl_tui.screens.launch:LaunchScreen",
    "monitor": "plugrl_tui.screens.monitor:MonitorScreen",
    "compare": "plugrl_tui.screens.compare:CompareScreen",
}
"""Where each screen lives; imported when it is first opened, so that none delays another."""


class RoomScreen(Screen[None]):
    """A screen whose keys come from the registry of actions."""

    DEFAULT_CSS = """
    RoomScreen { overflow: hidden; }
    """
    ACTION_GROUP: ClassVar[str]
    """Its group in ``plugrl_tui.actions``."""
    PANE_GROUPS: ClassVar[tuple[str, ...]] = ()
    """The groups of its panes, for the help and the palette."""

    @property
    def plugrl_app(self) -> "PlugRLApp":
        """The app, as what it is."""
        return cast("PlugRLApp", self.app)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave the screen, where it is on top; RUNS is behind the one that the app began with."""
        if not self.is_active:
            return AwaitComplete()
        if len(self.app.screen_stack) > 1:
            return super().dismiss(result)
        mode = self.app.current_mode
        self.app.switch_mode("runs")
        return self.app.remove_mode(mode)


def make_screen(name: str, **options: Any) -> RoomScreen:
    """The screen called ``name``, with the arguments of its class."""
    module, _, attribute = SCREENS[name].partition(":")
    screen: RoomScreen = getattr(importlib.import_module(module), attribute)(**options)
    return screen
