"""The last line: the keys that do something now; a click on one presses it.

Textual's own footer makes a widget for every key, and makes them anew with every move of the focus.
This one draws a line.
"""

from typing import NamedTuple

from rich.segment import Segment
from textual.binding import Binding
from textual.events import Click
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from plugrl_tui.widgets.styles import STYLES


class _Shown(NamedTuple):
    start: int
    end: int
    key: str


class KeyLine(Widget):
    """Key and label of every binding that the registry shows; those that don't fit are left out."""

    DEFAULT_CSS = "KeyLine { height: 1; dock: bottom; background: $panel; }"
    can_focus = False

    def __init__(self) -> None:
        """Begin without keys."""
        super().__init__()
        self._places: list[_Shown] = []

    def on_mount(self) -> None:
        """Draw anew when the keys change."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def render_line(self, y: int) -> Strip:
        """The keys from the left."""
        base, accent = self.rich_style, self.rich_style + STYLES.get(self.app, "key")
        segments, used, width = [Segment(" ", base)], 1, self.size.width
        self._places = []
        for binding in self._pressable():
            key, label = self.app.get_key_display(binding), f" {binding.description}  "
            length = len(key) + len(label)
            if used + length - 2 > width:
                continue
            segments += [Segment(key, accent), Segment(label, base)]
            self._places.append(_Shown(used, used + length - 2, binding.key))
            used += length
        return Strip(segments).adjust_cell_length(width, base)

    def on_click(self, event: Click) -> None:
        """Press the key under the pointer."""
        for shown in self._places:
            if shown.start <= event.x < shown.end:
                self.app.simulate_key(shown.key)

    def _pressable(self) -> list[Binding]:
        active = self.screen.active_bindings.values()
        shown = [each.binding for each in active if each.binding.show and each.enabled]
        return list({(b.action, b.description): b for b in reversed(shown)}.values())[::-1]

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()
