"""Stopping a run: what will happen, then its stages, and force only after that has failed."""

from typing import ClassVar

from textual.binding import BindingType

from plugrl_tui.actions import bindings
from plugrl_tui.core import format as fmt
from plugrl_tui.core import stopping
from plugrl_tui.core.feed import Feed, FeedError
from plugrl_tui.core.model import RunModel
from plugrl_tui.modals.box import Box

_LOOK_S = 0.25


class StopBox(Box):
    """Asks, then shows how the stop goes."""

    HEADING = "Stop the run"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("stop")]

    def __init__(self, model: RunModel, feed: Feed) -> None:
        """Stop the run of ``model``."""
        super().__init__()
        self._model = model
        self._feed = feed
        self._asked_at: float | None = None
        self._said = ""

    def on_mount(self) -> None:
        """Show the stages as they pass."""
        self.set_interval(_LOOK_S, self._tick)

    def text(self) -> str:
        """The question, or the stages."""
        name = self._model.title
        if self._model.is_over:
            verdict, saved = self._model.verdict(), self._model.checkpoint
            step = f" at step {fmt.grouped(self._model.step)}" if self._model.step else ""
            lines = [f"{name} is {verdict.state}{step}: {verdict.reason}"]
            lines += [f"the last checkpoint is of step {fmt.grouped(saved.step)}"] if saved else []
            return "\n".join([*lines, "", "esc goes back"])
        if self._asked_at is None:
            lines = [f"Stop {name}?", "", *stopping.announcement(self._model), ""]
            lines += ["enter stops it, esc leaves it running"]
        else:
            lines = [f"Stopping {name}", ""]
            lines += [stage.line for stage in stopping.stages(self._model)]
            lines += ["", *self._force_lines()]
        return "\n".join([*lines, *([self._said] if self._said else [])])

    async def action_confirm(self) -> None:
        """Ask for the stop, once."""
        if self._asked_at is not None or self._model.is_over:
            return
        try:
            self._said = await stopping.ask(self._model, self._feed)
            self._asked_at = self._model.clock()
        except (FeedError, OSError) as error:
            self._said = str(error)
            self._asked_at = self._model.clock() - stopping.PATIENCE_S
        self._tick()

    def action_force(self) -> None:
        """Kill, where a graceful stop has had its time."""
        try:
            self._said = stopping.force(self._model)
        except (FeedError, OSError) as error:
            self._said = str(error)
        self._tick()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer each key only while it does something."""
        over = self._model.is_over
        if action == "confirm":
            return self._asked_at is None and not over
        if action == "force":
            return self._may_force() and not over
        return True

    def _may_force(self) -> bool:
        if self._asked_at is None or not stopping.can_force(self._model):
            return False
        return self._model.clock() - self._asked_at >= stopping.PATIENCE_S

    def _force_lines(self) -> list[str]:
        if not self._may_force():
            return []
        return [
            "It has not stopped. F kills its processes; what came after the last",
            "checkpoint is lost then.",
        ]

    def _tick(self) -> None:
        self.show()
        self.refresh_bindings()
