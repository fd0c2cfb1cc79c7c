"""6 Log: the latest lines, with a level, a search, and a pager that stays where one reads."""

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core import format as fmt
from plugrl_tui.core.model import Part, RunModel
from plugrl_tui.core.snapshot import LogLine
from plugrl_tui.widgets.list_pane import ListPane
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_STYLES = {"DEBUG": "dim", "WARNING": "warn", "ERROR": "bad", "CRITICAL": "bad"}


class LogView(RunPane, ListPane):
    """The run's log; follows its end until one scrolls up."""

    NAME = "6 Log"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.LOG})
    GROUP = "log"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("log")]

    def __init__(self, model: RunModel, *, id: str) -> None:
        """Show the log of ``model``."""
        super().__init__(model, id=id)
        self.search = ""
        self._level = 1
        self._end: int | None = None
        """The number of the line after the last one shown; None follows."""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The lines that fit."""
        log, total = self.model.log, self.model.log_total
        first = total - len(log)
        end = total if self._end is None else min(max(self._end, first + 1), total)
        newest_first = islice(reversed(log), total - end, None)
        chosen = list(islice(filter(self._wanted, newest_first), height))
        self.subtitle = self._told(total - end)
        if not chosen:
            return [[Span(self._nothing(), "dim")]]
        return [self._line(line, width) for line in reversed(chosen)]

    def action_level(self) -> None:
        """The next level."""
        self._level = (self._level + 1) % len(_LEVELS)
        self.draw()

    def action_follow(self) -> None:
        """Go to the end, and stay there."""
        self._end = None
        self.draw()

    def move(self, lines: int) -> None:
        """Scroll; the end follows again."""
        total = self.model.log_total
        end = (total if self._end is None else self._end) + lines
        first = total - len(self.model.log)
        self._end = None if end >= total else max(end, first + self.content_size.height)
        if self._end is not None and self._end >= total:
            self._end = None
        self.draw()

    def action_search(self) -> None:
        """Ask for the words that a line must have."""
        from plugrl_tui.modals.ask_line import AskLine

        def take(text: str | None) -> None:
            if text is not None:
                self.find(text)

        self.app.push_screen(AskLine("lines with", self.search), take)

    def find(self, text: str) -> None:
        """Show only lines with ``text``; nothing shows all."""
        self.search = text.casefold()
        self.draw()

    def _wanted(self, line: LogLine) -> bool:
        if line.level in _LEVELS and _LEVELS.index(line.level) < self._level:
            return False
        return not self.search or self.search in line.text.casefold()

    def _told(self, below: int) -> str:
        parts = ["follow" if self._end is None else f"{fmt.grouped(below)} lines below"]
        if self._level:
            parts.append(f"level ≥ {_LEVELS[self._level]}")
        if self.search:
            parts.append(f"with {self.search!r}")
        return " · ".join(parts)

    def _nothing(self) -> str:
        if self.search or self.model.log:
            return "no line is of this level and has these words"
        return "no lines yet"

    def _line(self, line: LogLine, width: int) -> Row:
        style = _STYLES.get(line.level, "")
        head = "" if line.time is None else f"{fmt.clock(line.time)} "
        level = f"{line.level[:7]:<7} " if line.level else ""
        text = line.text.replace("\n", " ").replace("\t", " ")
        room = width - len(head) - len(level)
        return [Span(head, "dim"), Span(level, style or "dim"), Span(fmt.fitted(text, room), style)]
