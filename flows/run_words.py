"""Runs as the commands of this package find them and speak of them."""

import time
from datetime import datetime

from plugrl.runs import liveness
from plugrl.runs.catalog import FoundRun
from plugrl.runs.records import RunState

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0


def state_of(run: FoundRun) -> str:
    """The run's state in a word."""
    return liveness.observed_state(run.status, time.time()).value


def reason_of(run: FoundRun) -> str:
    """Why it is in that state, where somebody said so."""
    status = run.status
    if status is None:
        return "its status.json is missing or damaged; --resume goes on from its newest checkpoint"
    state = liveness.observed_state(status, time.time())
    if state is RunState.LOST:
        return f"its process (pid {status.pid}) is gone without a last word"
    if state is RunState.STALLED:
        return f"its server was last heard of {duration(time.time() - status.updated_at)} ago"
    return status.reason or ""


def steps_of(run: FoundRun) -> str:
    """Steps done, of how many."""
    step = 0 if run.status is None else run.status.step
    total = run.record.total_steps
    return f"{step:,}" if total is None else f"{step:,} / {total:,}"


def moment(epoch_s: float) -> str:
    """A moment in local time."""
    return datetime.fromtimestamp(epoch_s).strftime("%Y-%m-%d %H:%M:%S")  # noqa: DTZ006 -- local


def duration(seconds: float) -> str:
    """A time span in its two largest units."""
    seconds = max(seconds, 0.0)
    if seconds < MINUTE_S:
        return f"{seconds:.1f} s"
    if seconds < HOUR_S:
        return f"{int(seconds // MINUTE_S)} min {int(seconds % MINUTE_S)} s"
    if seconds < DAY_S:
        return f"{int(seconds // HOUR_S)} h {int(seconds % HOUR_S // MINUTE_S)} min"
    return f"{int(seconds // DAY_S)} d {int(seconds % DAY_S // HOUR_S)} h"
