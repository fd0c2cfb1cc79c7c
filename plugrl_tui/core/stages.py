"""What takes a while, in stages: the start of a run, and its stop."""

from enum import StrEnum
from typing import NamedTuple

from plugrl_tui.core import glyphs


class Progress(StrEnum):
    """How far a stage is."""

    DONE = "done"
    NOW = "now"
    AHEAD = "ahead"
    FAILED = "failed"


_SIGNS = {
    Progress.DONE: glyphs.CHECK,
    Progress.NOW: glyphs.HALF,
    Progress.AHEAD: glyphs.RING,
    Progress.FAILED: glyphs.CROSS,
}


class Stage(NamedTuple):
    """One stage."""

    text: str
    progress: Progress

    @property
    def line(self) -> str:
        """Sign and text."""
        return f"{_SIGNS[self.progress]} {self.text}"
