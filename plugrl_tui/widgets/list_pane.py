"""A pane that one moves through: cursor keys, pages and the wheel."""

from textual.events import MouseScrollDown, MouseScrollUp

from plugrl_tui.widgets.pane import Pane

_WHEEL_LINES = 3


class ListPane(Pane):
    """Its keys are the ``_moves`` of a group in ``plugrl_tui.actions``."""

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
