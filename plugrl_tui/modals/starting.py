"""A start: its stages and its log, until there is a run to be watched."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core.format import duration
from plugrl_tui.core.glyphs import BUSY, DONE, LOST, SILENT
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.starting import Progress, Start
from plugrl_tui.modals.box import Box

if TYPE_CHECKING:
    from plugrl_tui.app import PlugRLApp

LOOK_S = 0.25
_LOG_LINES = 8
_SIGNS = {
    Progress.DONE: DONE,
    Progress.NOW: BUSY,
    Progress.AHEAD: SILENT,
    Progress.FAILED: LOST,
}


class Starting(Box):
    """Gives way to MONITOR as soon as the server listens."""

    HEADING = "Starting"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("starting")]

    def __init__(self, *, launched: Launched, with_prefect: bool, api_key: str | None) -> None:
        """Follow ``launched``.

        Args:
            launched: the run.
            with_prefect: whether it is to be recorded in Prefect.
            api_key: the run's key, if it has one.
        """
        super().__init__()
        self._start = Start(launched, with_prefect=with_prefect)
        self._api_key = api_key

    def on_mount(self) -> None:
        """Look again and again."""
        self._timer = self.set_interval(LOOK_S, self._look)

    def text(self) -> str:
        """The stages, the end of the log, and what can be done."""
        look = self._start.look()
        lines = [f"{_SIGNS[stage.progress]} {stage.words}" for stage in look.stages]
        lines += ["", *(line.rstrip() for line in self._start.launched.output()[-_LOG_LINES:]), ""]
        if look.complaint is not None:
            lines += [look.complaint, "", f"its log: {self._start.launched.log}"]
            lines += ["esc goes back to the form, which is as it was"]
        else:
            lines.append(f"{duration(self._start.seconds)} so far; esc leaves it starting")
        return "\n".join(lines)

    def action_watch(self) -> None:
        """Watch it."""
        app = cast("PlugRLApp", self.app)
        self._timer.stop()
        folder = str(self._start.launched.run_dir)
        # The form goes with this box: what is behind MONITOR is the list of runs.
        app.pop_screen()
        if app.screen.__class__.__name__ == "LaunchScreen":
            app.pop_screen()
        app.open_monitor(folder, api_key=self._api_key)

    def _look(self) -> None:
        look = self._start.look()
        if look.complaint is not None:
            self._timer.stop()
        self.show()
        if look.listening:
            self.action_watch()
