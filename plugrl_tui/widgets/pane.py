"""A pane that draws its own lines: rows are compared, and only those that differ are painted."""

import logging
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from plugrl.cli.table import harmless
from plugrl_tui.core.format import fitted
from plugrl_tui.widgets.styles import STYLES

logger = logging.getLogger(__name__)


class Span(NamedTuple):
    """Some text in one style: none, or one that ``plugrl_tui.widgets.styles`` names."""

    text: str
    style: str = ""


Row: TypeAlias = Sequence[Span]


class Pane(Widget, can_focus=True):
    """Subclasses say in rows what is to be seen."""

    DEFAULT_CSS = """
    Pane { border: round $border-blurred; border-title-color: $foreground; height: 1fr; width: 1fr;
           padding: 0 0 0 1;
           border-subtitle-color: $text-muted; }
    Pane:focus { border: heavy $accent; }
    """
    GROUP: ClassVar[str] = ""
    """Its own actions' group, where it has any."""

    def __init__(self, *, id: str) -> None:
        """Begin without rows."""
        super().__init__(id=id)
        self.title = ""
        """In the border above, as is ``subtitle`` below."""
        self.subtitle = ""
        self._rows: list[Row] = []
        self._strips: list[Strip] = []
        self._title_set = self._subtitle_set = ""
        self._failure = ""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """What to show in so many columns and lines; may set ``title`` and ``subtitle``."""
        raise NotImplementedError

    def draw(self) -> None:
        """Make the rows and paint those that differ from what is seen."""
        width, height = self.content_size
        if width <= 0 or height <= 0:
            return
        try:
            rows: list[Row] = [list(row) for row in self.rows(width, height)[:height]]
        except Exception as error:  # noqa: BLE001 - shows in this pane and ends nothing else
            rows = self._failed(error)
        self._paint(rows, width)
        self._name_border()

    def render_line(self, y: int) -> Strip:
        """One line, as last drawn."""
        width = self.content_size.width
        if y < len(self._strips) and self._strips[y].cell_length == width:
            return self._strips[y]
        return Strip.blank(width, self.rich_style)

    def on_resize(self, _event: Resize) -> None:
        """Draw for the new size."""
        self.redraw()

    def redraw(self) -> None:
        """Draw everything anew: the size, the theme or the place has changed."""
        self._rows, self._strips = [], []
        self.draw()
        self.refresh()

    def notify_style_update(self) -> None:
        """Draw in the new theme."""
        super().notify_style_update()
        if self.is_mounted:
            self.call_later(self.redraw)

    def _failed(self, error: Exception) -> list[Row]:
        # Panes are drawn four times a second: one failure is one entry in the log.
        if repr(error) != self._failure:
            self._failure = repr(error)
            logger.error("the pane %s failed", self.id, exc_info=error)
        return [
            [Span(f"this pane failed: {type(error).__name__}", "bad")],
            [Span("the others go on; the app's log says more", "dim")],
        ]

    def _paint(self, rows: list[Row], width: int) -> None:
        old, self._rows = self._rows, rows
        changed = [
            y
            for y in range(max(len(old), len(rows)))
            if y >= len(old) or y >= len(rows) or old[y] != rows[y]
        ]
        if not changed:
            return
        strips = self._strips[: len(rows)]
        strips += [Strip.blank(width)] * (len(rows) - len(strips))
        for y in changed:
            if y < len(rows):
                strips[y] = self._strip(rows[y], width)
        self._strips = strips
        self.refresh(*(Region(0, y, width, 1) for y in changed))

    def _strip(self, row: Row, width: int) -> Strip:
        base = self.rich_style
        segments = [
            Segment(harmless(span.text), self._style(span.style, base)) for span in row if span.text
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, name: str, base: Style) -> Style:
        return base + STYLES.get(self.app, name) if name else base

    def _name_border(self) -> None:
        # Setting a title paints the whole pane, so only a new one is set.
        room = max(self.size.width - 6, 0) if self.size.width else 0
        title, subtitle = fitted(self.title, room), fitted(self.subtitle, room)
        if title != self._title_set:
            self._title_set = title
            self.border_title = _verbatim(title)
        if subtitle != self._subtitle_set:
            self._subtitle_set = subtitle
            self.border_subtitle = _verbatim(subtitle)


def _verbatim(text: str) -> str:
    # A border's title is markup; a metric or a worker may have a bracket in its name.
    return harmless(text).replace("[", r"\[")
