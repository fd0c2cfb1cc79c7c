"""Panes that one moves through: cursor keys, pages, the wheel; with a cursor, or without."""

from typing import ClassVar

from textual.binding import BindingType
from textual.events import MouseScrollDown, MouseScrollUp
from textual.message import Message

from plugrl_tui.actions import bindings
from plugrl_tui.widgets.pane import Pane

_WHEEL_LINES = 3


class ListPane(Pane):
    """Its keys are the group ``list`` of ``plugrl_tui.actions``."""

    GROUP = "list"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    def move(self, lines: int) -> None:
        """Move down by so many lines, or up where negative."""
        raise NotImplementedError

    def action_up(self) -> None:
        """One line up."""
        self.move(-1)

    def action_down(self) -> None:
        """One line down."""
        self.move(1)

    def action_page_up(self) -> None:
        """A screen up."""
        self.move(1 - max(self.content_size.height, 2))

    def action_page_down(self) -> None:
        """A screen down."""
        self.move(max(self.content_size.height, 2) - 1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Some lines down."""
        event.stop()
        self.move(_WHEEL_LINES)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Some lines up."""
        event.stop()
        self.move(-_WHEEL_LINES)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.draw()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.draw()


class CursorPane(ListPane):
    """A list with a cursor, of which so much is seen as has room around it."""

    cursor = 0
    """The place in the list, from 0."""
    first = 0
    """The place of the first line that is seen."""

    class Moved(Message):
        """The cursor stands on another line, or its line has changed."""

    def num_lines(self) -> int:
        """How long the list is."""
        raise NotImplementedError

    def move(self, lines: int) -> None:
        """Move the cursor."""
        self.put(self.cursor + lines)

    def put(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there is none at ``place``."""
        self.cursor = max(0, min(place, self.num_lines() - 1))
        self.draw()
        self.post_message(self.Moved())

    def around_cursor(self, room: int) -> range:
        """The places that are to be seen in ``room`` lines; scrolls as little as it can."""
        self.first = max(min(self.first, self.cursor), self.cursor - room + 1, 0)
        return range(self.first, min(self.first + room, self.num_lines()))
