"""What to tell somebody who leaves: which runs go on without the app."""

import time

from plugrl.cli.table import harmless
from plugrl.runs.catalog import find_runs
from plugrl.runs.liveness import observed_state
from plugrl.runs.records import RunState
from plugrl_tui.core import format as fmt

_NAMED = 5


def going_on() -> str:
    """A sentence for each run that goes on here, at most a few; empty where there is none."""
    now = time.time()
    lines = []
    try:
        runs = find_runs().found
    except OSError:
        return ""
    for run in runs:
        if run.status is None:
            continue
        state = observed_state(run.status, now)
        if state.final or state is RunState.LOST:
            continue
        step = fmt.progress(run.status.step, run.status.total_steps)
        name = harmless(run.record.exp_name)
        lines.append(f"{name} goes on (step {step}); back to it: plugrl-tui attach {name}")
    if len(lines) > _NAMED:
        lines = [*lines[:_NAMED], f"and {len(lines) - _NAMED} more go on: plugrl-tui runs"]
    return "\n".join(lines)
