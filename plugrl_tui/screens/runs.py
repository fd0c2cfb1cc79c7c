"""RUNS: every run that this machine knows of."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Footer, Static

from plugrl_tui.actions import bindings
from plugrl_tui.screens.base import RoomScreen


class RunsScreen(RoomScreen):
    """The first screen."""

    ACTION_GROUP = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("runs")]

    def compose(self) -> ComposeResult:
        """A sentence."""
        yield Static("no runs yet")
        yield Footer()
