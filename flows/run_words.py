"""Runs as the commands of this package find them and speak of them."""

import shutil
import time
from pathlib import Path

from plugrl.runs import liveness
from plugrl.runs.catalog import FoundRun
from plugrl.runs.moments import duration
from plugrl.runs.records import RunState

RECORD_BYTES = 2**12
"""Room that a run's status takes."""


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
        full = "; the disk of its folder is full" if _is_full(run.path) else ""
        return f"its process (pid {status.pid}) is gone without a last word{full}"
    if state is RunState.STALLED:
        return f"its server was last heard of {duration(time.time() - status.updated_at)} ago"
    return status.reason or ""


def _is_full(folder: Path) -> bool:
    """Whether not even a record finds room there."""
    try:
        return shutil.disk_usage(folder).free < RECORD_BYTES
    except OSError:
        return False


def steps_of(run: FoundRun) -> str:
    """Steps done, of how many."""
    step = 0 if run.status is None else run.status.step
    total = run.record.total_steps
    return f"{step:,}" if total is None else f"{step:,} / {total:,}"
