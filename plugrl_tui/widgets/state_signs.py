"""How each state of a run is shown."""

from plugrl.runs.records import RunState
from plugrl_tui.core.glyphs import BANG, CHECK, CROSS, DOT, DOTTED, HALF, RING

STATE_SIGNS = {
    RunState.STARTING: (HALF, "accent"),
    RunState.RUNNING: (DOT, "good"),
    RunState.WAITING: (DOTTED, "warn"),
    RunState.STALLED: (BANG, "warn"),
    RunState.STOPPING: (HALF, "warn"),
    RunState.DONE: (CHECK, "good"),
    RunState.STOPPED: (RING, "dim"),
    RunState.FAILED: (CROSS, "bad"),
    RunState.LOST: (CROSS, "bad"),
}
"""Each state's sign and style; the word is always beside it."""
