"""Textual's palette of commands, mended: no key that is pressed too soon or twice ends the app."""

from contextlib import suppress

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.css.query import NoMatches


class Palette(CommandPalette):
    """Find an action by its name."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave it, where it is the screen on top; as ``plugrl_tui.modals.once`` says."""
        if not self.is_active:
            return AwaitComplete()
        self._cancel_gather_commands()
        return super().dismiss(result)

    def _action_command_list(self, action: str) -> None:
        # Its list can't move by a page before it is there and laid out.
        with suppress(KeyError, NoMatches):
            super()._action_command_list(action)
