"""The one line in which a person types: a field's text, or words to find."""

import asyncio
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Paste
from textual.message import Message
from textual.suggester import Suggester, SuggestFromList
from textual.widgets import Input

from plugrl.runs.home import typed_path
from plugrl_tui.actions import bindings

_COMMAND_STARTS = ("--", "plugrl")


class Editor(Input):
    """Hidden until it is opened; ``enter`` hands its text over, ``escape`` keeps what was."""

    DEFAULT_CSS = """
    Editor, Editor:focus { border: none; height: 1; padding: 0 1; display: none;
                           background: $surface-lighten-1; }
    Editor.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("editor")]

    class Done(Message):
        """The person is done."""

        def __init__(self, purpose: str, text: str | None) -> None:
            """Carry what the editor was opened for, and the text; None where it was left."""
            super().__init__()
            self.purpose = purpose
            self.text = text

    class CommandPasted(Message):
        """A command, or flags, were pasted where a value was expected."""

        def __init__(self, text: str) -> None:
            """Carry the text."""
            super().__init__()
            self.text = text

    purpose = ""

    def __init__(self, *, id: str) -> None:
        """Begin closed."""
        super().__init__(id=id, compact=True)

    def open(
        self,
        purpose: str,
        text: str,
        *,
        placeholder: str = "",
        suggester: Suggester | None = None,
        password: bool = False,
    ) -> None:
        """Take the focus and begin with ``text``."""
        self.purpose = purpose
        self.placeholder = placeholder
        self.suggester = suggester
        self.password = password
        self.value = text
        self.cursor_position = len(text)
        self.add_class("-open")
        self.focus()

    def close(self) -> None:
        """Give the line back."""
        self.remove_class("-open")

    async def action_submit(self) -> None:
        """Hand the text over."""
        self.close()
        self.post_message(self.Done(self.purpose, self.value))

    def action_cancel(self) -> None:
        """Keep what was."""
        self.close()
        self.post_message(self.Done(self.purpose, None))

    def on_paste(self, event: Paste) -> None:
        """Hand over a command; any other text goes into the line."""
        if event.text.strip().startswith(_COMMAND_STARTS):
            event.prevent_default()
            event.stop()
            self.close()
            self.post_message(self.CommandPasted(event.text))


def suggest_names(names: tuple[str, ...]) -> Suggester:
    """Completes one of some names."""
    return SuggestFromList(names, case_sensitive=True)


class PathSuggester(Suggester):
    """Completes a path from the disk."""

    def __init__(self) -> None:
        """Look at the disk each time."""
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The first path that begins so."""
        return await asyncio.to_thread(_completed, value) if value else None


def _completed(text: str) -> str | None:
    try:
        path = typed_path(text)
        folder, start = (path, "") if text.endswith("/") else (path.parent, path.name)
        found = min((p for p in folder.iterdir() if p.name.startswith(start)), default=None)
        if found is None:
            return None
        return text[: len(text) - len(start)] + found.name + ("/" if found.is_dir() else "")
    except (OSError, ValueError):
        return None  # not to be read, or no path at all
