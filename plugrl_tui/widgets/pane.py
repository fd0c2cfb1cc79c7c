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

from plugrl_tui.core.format import fitted, harmless
from plugrl_tui.core.model import Part, RunModel
from plugrl_tui.widgets.styles import STYLES

logger = logging.getLogger(__name__)

TICK_S = 0.25
"""Seconds between two looks at the model."""


class Span(NamedTuple):
    """Some text in one style: "", dim, strong, good, warn, bad, accent or cursor."""

    text: str
    style: str = ""


Row: TypeAlias = Sequence[Span]


class Pane(Widget, can_focus=True):
    """Shows one part of a run; subclasses say in rows what is to be seen."""

    DEFAULT_CSS = """
    Pane { border: round $border-blurred; border-title-color: $foreground; height: 1fr; width: 1fr;
           padding: 0 0 0 1;
           border-subtitle-color: $text-muted; }
    Pane:focus { border: heavy $accent; }
    """
    PARTS: ClassVar[frozenset[Part]] = frozenset()
    """The parts of the model that it shows."""
    TICKS: ClassVar[int] = 1
    """Looks at the model every so many ticks."""
    GROUP: ClassVar[str] = ""
    """Its own actions' group, where it has any."""
    NAME: ClassVar[str] = ""
    """Its number and name, for the border."""

    def __init__(self, model: RunModel, *, id: str) -> None:
        """Show ``model``."""
        super().__init__(id=id)
        self.model = model
        self.title = self.NAME
        self.subtitle = ""
        self._rows: list[Row] = []
        self._strips: list[Strip] = []
        self._seen: tuple[int, ...] = ()
        self._countdown = 0
        self.zoomed = False
        """Whether it has the whole screen, and shows more."""
        self._title_set = self._subtitle_set = ""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """What to show in so many columns and lines; may set ``title`` and ``subtitle``."""
        raise NotImplementedError

    def tick(self) -> None:
        """Look at the model, if that is due and if it has changed."""
        self._countdown -= 1
        if self._countdown <= 0:
            self._countdown = self.TICKS
            if self._revisions() != self._seen:
                self.draw()

    def draw(self) -> None:
        """Make the rows and paint those that differ from what is seen."""
        self._seen = self._revisions()
        width, height = self.content_size
        if width <= 0 or height <= 0:
            return
        try:
            rows: list[Row] = [list(row) for row in self.rows(width, height)[:height]]
        except Exception as error:
            # One pane's failure shows in that pane and ends nothing else.
            logger.exception("the pane %s failed", self.NAME)
            rows = [
                [Span(f"this pane failed: {type(error).__name__}", "bad")],
                [Span("the others go on; its log says more", "dim")],
            ]
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

    def _revisions(self) -> tuple[int, ...]:
        return tuple(self.model.revisions[part] for part in self.PARTS)

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
