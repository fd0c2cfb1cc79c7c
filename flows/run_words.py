"""Runs as the commands of this package find them and speak of them."""

import time

from plugrl.runs import liveness
from plugrl.runs.catalog import FoundRun
from plugrl.runs.moments import duration
from plugrl.runs.records import RunState


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
