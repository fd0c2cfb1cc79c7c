"""The lines around LAUNCH's table: what the draft is, what a field means, what will be run."""

import shlex
from collections.abc import Mapping, Sequence

from plugrl_tui.core import command_line
from plugrl_tui.core.draft import NO_CLIENTS, Draft
from plugrl_tui.core.form import FormRow
from plugrl_tui.core.format import fitted, wrapped
from plugrl_tui.core.glyphs import BANG, CROSS
from plugrl_tui.core.preflight import Finding, Level
from plugrl_tui.widgets.pane import Pane, Row, Span

_MIN_LINES = 2
_CUT = " y copies all"
_TALL = 32
"""Lines of a terminal in which the whole command has its place."""


class _Lines(Pane):
    """Some lines without a border or a focus."""

    can_focus = False


class LaunchHeader(_Lines):
    """Where we are, where the draft comes from, and whether it is right."""

    DEFAULT_CSS = """
    LaunchHeader { height: 1; border: none; background: $panel; }
    """
    _said: tuple[str, int, int] = ("", 0, 0)

    def show(self, origin: str, num_changed: int, num_errors: int) -> None:
        """Say this."""
        self._said = (origin, num_changed, num_errors)
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """One line."""
        origin, changed, errors = self._said
        left = "plugrl ▸ new run"
        right = f"{changed} changed"
        wrong = f" · {errors} error{'s' if errors > 1 else ''}" if errors else ""
        room = width - len(left) - len(right) - len(wrong) - 1
        from_where = fitted(f"     {origin}", room).ljust(room)
        return [[Span(left, "strong"), Span(from_where, "dim"), Span(right), Span(wrong, "bad")]]


class FieldLines(_Lines):
    """What the field under the cursor is, and what is wrong with it."""

    DEFAULT_CSS = """
    FieldLines { height: 2; border: none; padding: 0 1; }
    """
    _row: FormRow | None = None
    _findings: Mapping[str, Finding] = {}

    def show(self, row: FormRow | None, findings: Mapping[str, Finding]) -> None:
        """Say this of a row."""
        self._row, self._findings = row, findings
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """Two lines."""
        row = self._row
        if row is None:
            return []
        if row.is_group:
            return [[Span(f"{row.label}: enter opens or closes it", "dim")]]
        about = f"{row.key} : {row.type_words}"
        if row.default:
            about += f", default {row.default}"
        lines = wrapped(row.help, width)
        first: Row = [Span(fitted(about, width), "accent")]
        finding = self._findings.get(row.key)
        if row.error:
            return [first, [Span(fitted(f"{CROSS} {row.error}", width), "bad")]]
        if finding is not None and finding.level is Level.NOTE:
            return [first, [Span(fitted(f"{BANG} {finding.sentence}", width), "warn")]]
        if len(lines) == 1 and len(about) + len(lines[0]) + 3 <= width and finding is not None:
            whole: Row = [Span(f"{about} · ", "accent"), Span(lines[0])]
            return [whole, [Span(fitted(finding.sentence, width), "dim")]]
        return [first, [Span(fitted(row.help, width))]]


class CommandLines(_Lines):
    """The exact command; more of it where there is more room."""

    DEFAULT_CSS = """
    CommandLines { height: 2; border: none; padding: 0 1; background: $surface; }
    """
    _draft: Draft | None = None

    def show(self, draft: Draft) -> None:
        """Show the command of a draft."""
        self._draft = draft
        if self.size.width:
            tall = self.app.size.height >= _TALL
            needed = len(self._command(self.content_size.width))
            self.styles.height = max(_MIN_LINES, min(needed, 6)) if tall else _MIN_LINES
        self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The command from its start; a sign where it goes on."""
        draft = self._draft
        if draft is None:
            return []
        lines = self._command(width)
        if len(lines) > height:
            rest = fitted(" ".join(lines[height - 1 :]), width - len(_CUT))
            lines, cut = [*lines[: height - 1], rest], _CUT
        else:
            cut = ""
        style = "bad" if draft.verdict.errors else "good"
        *first, last = lines
        return [*([Span(line, style)] for line in first), [Span(last, style), Span(cut, "dim")]]

    def _command(self, width: int) -> list[str]:
        draft = self._draft
        if draft is None:
            return []
        if draft.verdict.errors:
            return ["no command before all fields are right: e goes to the next error"]
        words = [shlex.quote(word) for word in command_line.command(draft)]
        lines = wrapped("$ " + " ".join(words), width)
        if draft.value(NO_CLIENTS) == 0:
            lines += wrapped(
                "and env clients by hand (Y copies): " + command_line.client_text(draft), width
            )
        return lines
