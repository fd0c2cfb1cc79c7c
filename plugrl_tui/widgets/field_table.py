"""LAUNCH's table: every field of a draft in one widget, with a cursor."""

from collections.abc import Sequence
from dataclasses import replace

from textual.events import Click, Paste
from textual.message import Message

from plugrl_tui.core import form
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.form import FormRow, View
from plugrl_tui.core.format import fitted
from plugrl_tui.core.glyphs import CROSS
from plugrl_tui.widgets.list_pane import CursorPane
from plugrl_tui.widgets.pane import Row, Span

_LABEL_WIDTH = 29
_MIN_TEXT_WIDTH = 14
_MARK_WIDTH = 4


class FieldTable(CursorPane):
    """Shows a draft through a view; the screen changes both."""

    class Pasted(Message):
        """Text was pasted while the table had the focus."""

        def __init__(self, text: str) -> None:
            """Carry the text."""
            super().__init__()
            self.text = text

    def __init__(self, draft: Draft, *, id: str) -> None:
        """Show ``draft``."""
        super().__init__(id=id)
        self.draft = draft
        self.view = View()
        self.form = form.rows(draft, self.view)

    @property
    def current(self) -> FormRow | None:
        """The row under the cursor."""
        return self.form[self.cursor] if self.form else None

    def show(self, draft: Draft, view: View | None = None) -> None:
        """Show another draft or view; the cursor stays on its row."""
        key = self.current.key if self.current else None
        self.draft, self.view = draft, view or self.view
        self.form = form.rows(self.draft, self.view)
        self.go_to(key)

    def go_to(self, key: str | None) -> None:
        """Put the cursor on a row, if it is to be seen."""
        places = [place for place, row in enumerate(self.form) if row.key == key]
        self.put(places[0] if places else self.cursor)

    def go_to_first_field(self) -> None:
        """Put the cursor on the first row that is no group's, if there is one."""
        self.go_to(next((row.key for row in self.form if not row.is_group), None))

    def open_at(self, key: str) -> None:
        """Put the cursor on a row, and make sure that it is seen."""
        group = key.partition(".")[0]
        closed = self.view.closed - {group}
        self.show(self.draft, replace(self.view, closed=closed, find="", only_changed=False))
        self.go_to(key)

    def num_lines(self) -> int:
        """Rows of the form."""
        return len(self.form)

    def on_paste(self, event: Paste) -> None:
        """Flags that are pasted change the draft."""
        event.stop()
        self.post_message(self.Pasted(event.text))

    def on_click(self, event: Click) -> None:
        """Put the cursor on the line."""
        offset = event.get_content_offset(self)
        if offset is not None and self.first + offset.y < len(self.form):
            self.put(self.first + offset.y)

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The rows around the cursor."""
        self.title = self._heading()
        if not self.form:
            return [[Span("no field is like that; escape shows all again", "dim")]]
        return [
            self._line(self.form[place], width, at_cursor=place == self.cursor)
            for place in self.around_cursor(height)
        ]

    def _heading(self) -> str:
        view = self.view
        filters = [f"find {view.find}"] if view.find else []
        filters += ["changed only"] if view.only_changed else []
        return " · ".join([f"Config {len(self.draft.specs)} fields", *filters])

    def _line(self, row: FormRow, width: int, *, at_cursor: bool) -> Row:
        cursor = "cursor" if at_cursor and self.has_focus else "accent" if at_cursor else ""
        if row.is_group:
            sign = "▸" if row.closed else "▾"
            count = f" ({row.text})" if row.closed else ""
            mark = f" {CROSS}" if row.error else " *" if row.closed and row.changed else ""
            return [Span(f" {sign} {row.label}{count}{mark}".ljust(width), cursor or "strong")]
        mark, mark_style = (
            (CROSS, "bad") if row.error else ("*", "warn") if row.changed else ("", "")
        )
        label_width = min(_LABEL_WIDTH, max(width - _MARK_WIDTH - _MIN_TEXT_WIDTH, 8))
        room = width - _MARK_WIDTH - label_width - 1
        text = row.shown or '""'
        aside = self._aside(row)
        if len(text) + 3 + len(aside) > room:
            aside = fitted(aside, room - len(text) - 3) if room - len(text) > 12 else ""
        label = fitted(row.label, label_width).ljust(label_width)
        value, aside = f"{label} {fitted(text, room)}", f"   {aside}" if aside else ""
        if cursor:
            return [
                Span(f" {mark:<{_MARK_WIDTH - 1}}", mark_style),
                Span(f"{value}{aside}".ljust(width - _MARK_WIDTH), cursor),
            ]
        return [
            Span(f" {mark:<{_MARK_WIDTH - 1}}", mark_style),
            Span(value, "bad" if row.error else ""),
            Span(aside, "bad" if row.error else "dim"),
        ]

    def _aside(self, row: FormRow) -> str:
        if row.error:
            return row.error
        if row.changed:
            return f"was {row.default}"
        if row.key in self.view.hints:
            return self.view.hints[row.key]
        return "▾" if len(row.choices) > 1 or row.suggestions else ""
