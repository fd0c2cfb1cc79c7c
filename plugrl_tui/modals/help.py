"""All keys of a screen, as they are now, from the registry of actions."""

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from plugrl_tui.actions import GROUPS, TITLES, Action, bindings
from plugrl_tui.modals.box import Box

_KEY_WIDTH = 12
_WIDTH = 66
_FRAME_WIDTH = 6
"""Columns of the border, the padding and the scroll bar."""
_MIN_HELP_WIDTH = 10


class HelpBox(Box):
    """One line for each action."""

    HEADING = "Keys"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("box")]

    def __init__(self, groups: Sequence[str], remapped: dict[str, str]) -> None:
        """Show the actions of ``groups``, with the keys that a person has given them."""
        super().__init__()
        self._groups = groups
        self._remapped = remapped

    def text(self) -> str:
        """Group by group."""
        lines: list[str] = []
        for group in self._groups:
            lines.append(TITLES[group])
            for action in GROUPS[group]:
                lines += self._lines(action)
            lines.append("")
        lines.append("tab goes to the next pane; esc closes this")
        return "\n".join(lines)

    def _lines(self, action: Action) -> list[str]:
        keys = self._remapped.get(action.id, action.keys)
        shown = " ".join(key_name(self.app, key) for key in keys.split(","))
        room = min(_WIDTH, self.app.size.width - _FRAME_WIDTH) - _KEY_WIDTH - 2
        first, *more = textwrap.wrap(action.help, max(room, _MIN_HELP_WIDTH))
        rest = [" " * (_KEY_WIDTH + 2) + line for line in more]
        return [f"  {shown:<{_KEY_WIDTH}}{first}", *rest]


def key_name(app: App[object], key: str) -> str:
    """How a key is called on the screen."""
    return app.get_key_display(Binding(key.strip(), ""))
