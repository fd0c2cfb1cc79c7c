"""How spans look in the present theme; plain Rich styles, made once for each theme.

Component classes would say the same in CSS, but every pane would pay for each whenever it is
styled: eight classes on ten panes are a fifth of the time to the first picture.
"""

from rich.style import Style
from textual.app import App
from textual.color import Color

_MUTED = 0.4
"""How far muted text goes towards the background."""
_CURSOR = 0.6


class SpanStyles:
    """The styles by the names that ``Span`` uses."""

    def __init__(self) -> None:
        """Nothing is made before it is asked for."""
        self._theme = ""
        self._styles: dict[str, Style] = {}

    def get(self, app: App[object], name: str) -> Style:
        """The style called ``name``, to be laid over the pane's own."""
        if app.theme != self._theme:
            self._theme, self._styles = app.theme, _made(app)
        return self._styles[name]


STYLES = SpanStyles()
"""Those of the app in this process."""


def _made(app: App[object]) -> dict[str, Style]:
    variables = app.theme_variables
    colours = {name: Color.parse(variables[name]) for name in ("success", "warning", "error")}
    accent = Color.parse(variables["accent"])
    return {
        "strong": Style(bold=True),
        "head": Style(bold=True, underline=True),
        "good": Style(color=colours["success"].rich_color),
        "warn": Style(color=colours["warning"].rich_color, bold=True),
        "bad": Style(color=colours["error"].rich_color, bold=True),
        "accent": Style(color=accent.rich_color),
        "key": Style(color=accent.rich_color, bold=True),
        **_blended(app, accent),
    }


def _blended(app: App[object], accent: Color) -> dict[str, Style]:
    """Styles between two colours, which the terminal's own sixteen can't mix."""
    if app.native_ansi_color:
        return {"dim": Style(dim=True), "cursor": Style(reverse=True)}
    variables = app.theme_variables
    foreground = Color.parse(variables["foreground"])
    background = Color.parse(variables["background"])
    return {
        "dim": Style(color=foreground.blend(background, _MUTED).rich_color),
        "cursor": Style(bgcolor=accent.blend(background, _CURSOR).rich_color, bold=True),
    }
