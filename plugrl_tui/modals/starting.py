"""A start: its stages and its log, until there is a run to be watched."""

from typing import ClassVar

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core.format import duration
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.starting import Start
from plugrl_tui.modals.box import Box

LOOK_S = 0.25
_LOG_LINES = 8


class Starting(Box):
    """Closes as soon as the server listens; its result is whether the run is to be watched."""

    HEADING = "Starting"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("starting")]

    def __init__(self, *, launched: Launched, with_prefect: bool) -> None:
        """Follow ``launched``.

        Args:
            launched: the run.
            with_prefect: whether it is to be recorded in Prefect.
        """
        super().__init__()
        self._start = Start(launched, with_prefect=with_prefect)
        self._now = self._start.look()

    @property
    def has_failed(self) -> bool:
        """Whether the run ended before there was anything to be watched."""
        return self._now.complaint is not None

    def on_mount(self) -> None:
        """Look again and again."""
        self._timer = self.set_interval(LOOK_S, self._look)

    def text(self) -> str:
        """The stages, the end of the log, and what can be done."""
        lines = [stage.line for stage in self._now.stages]
        lines += ["", *(line.rstrip() for line in self._start.launched.output()[-_LOG_LINES:]), ""]
        if self._now.complaint is not None:
            lines += [self._now.complaint, "", f"its log: {self._start.launched.log}"]
            lines += ["esc goes back to the form, which is as it was"]
        else:
            lines.append(f"{duration(self._start.seconds)} so far; esc leaves it starting")
        return "\n".join(lines)

    def action_watch(self) -> None:
        """Watch it."""
        self.dismiss(result=True)

    def _look(self) -> None:
        self._now = self._start.look()
        self.show()
        if self._now.complaint is not None:
            self._timer.stop()
        elif self._now.listening:
            self.action_watch()  # once the help above it, if there is one, is gone
