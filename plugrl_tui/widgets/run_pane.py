"""A pane that shows one part of a run, and looks now and then whether that part has changed."""

from typing import ClassVar

from plugrl_tui.core.model import Part, RunModel
from plugrl_tui.widgets.pane import Pane

TICK_S = 0.25
"""Seconds between two looks at the model."""


class RunPane(Pane):
    """Draws its rows anew where the revision of its parts has moved."""

    PARTS: ClassVar[frozenset[Part]] = frozenset()
    """The parts of the model that it shows."""
    TICKS: ClassVar[int] = 1
    """Looks at the model every so many ticks."""
    NAME: ClassVar[str] = ""
    """Its number and name, for the border."""

    def __init__(self, model: RunModel, *, id: str) -> None:
        """Show ``model``."""
        super().__init__(id=id)
        self.model = model
        self.title = self.NAME
        self.zoomed = False
        """Whether it has the whole screen, and shows more."""
        self._seen: tuple[int, ...] = ()
        self._countdown = 0

    def tick(self) -> None:
        """Look at the model, if that is due and if it has changed."""
        self._countdown -= 1
        if self._countdown <= 0:
            self._countdown = self.TICKS
            if self._revisions() != self._seen:
                self.draw()

    def draw(self) -> None:
        """Make the rows, of the model as it is now."""
        self._seen = self._revisions()
        super().draw()

    def _revisions(self) -> tuple[int, ...]:
        return tuple(self.model.revisions[part] for part in self.PARTS)
