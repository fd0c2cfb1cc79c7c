"""The colours: dark, light, or the terminal's own sixteen; and signs of seven bits."""

import codecs
import os
import sys

from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from plugrl_tui.core.glyphs import ascii_only

DARK = Theme(
    name="plugrl-dark",
    primary="#5fafd7",
    secondary="#87afd7",
    accent="#ffaf5f",
    foreground="#d7dae0",
    background="#101418",
    surface="#161b21",
    panel="#202830",
    success="#5fd787",
    warning="#ffd75f",
    error="#ff6b6b",
    dark=True,
    variables={"border-blurred": "#3f4a55"},
)
LIGHT = Theme(
    name="plugrl-light",
    primary="#005f87",
    secondary="#3a5f87",
    accent="#af5f00",
    foreground="#20242a",
    background="#fafafa",
    surface="#f0f1f3",
    panel="#e2e5e9",
    success="#007a3d",
    warning="#8a5a00",
    error="#b00020",
    dark=False,
    variables={"border-blurred": "#b4bac2"},
)
THEMES = (DARK.name, LIGHT.name, "ansi-dark", "ansi-light")
"""By name, in the order in which a key goes through them; the last two are the terminal's own."""


class AsciiFilter(LineFilter):
    """Turns every sign on the screen into one of seven bits, borders too."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line in ASCII."""
        del background
        return [
            segment if segment.text.isascii() else Segment(ascii_only(segment.text), *segment[1:])
            for segment in segments
        ]


def terminal_takes_unicode() -> bool:
    """Whether what is drawn, which Textual does on standard error, is written as Unicode.

    A page in a browser always is.
    """
    if os.environ.get("TEXTUAL_DRIVER"):
        return True
    encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def known() -> list[str]:
    """The names of all themes, Textual's own among them."""
    return list(dict.fromkeys((*THEMES, *BUILTIN_THEMES)))


def register(app: App[None]) -> None:
    """Make our themes known to ``app``."""
    app.register_theme(DARK)
    app.register_theme(LIGHT)


def next_theme(name: str) -> str:
    """The theme after ``name``."""
    place = THEMES.index(name) if name in THEMES else -1
    return THEMES[(place + 1) % len(THEMES)]
