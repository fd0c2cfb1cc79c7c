"""What to tell somebody who leaves: which runs go on without the app."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from plugrl.cli.programs import runnable
from plugrl.cli.table import harmless
from plugrl.runs.catalog import find_runs
from plugrl.runs.liveness import observed_state
from plugrl.runs.records import RunState
from plugrl_tui.core import format as fmt

if TYPE_CHECKING:
    from plugrl_tui.core.launcher import Launched

PROG = "plugrl-tui"
_NAMED = 5


def going_on(launched: "Iterable[Launched]" = ()) -> str:
    """A sentence for each run that goes on here, at most a few; empty where there is none.

    Args:
        launched: what was started from here; those that have no record yet are told, too.
    """
    try:
        living = dict(_living())
    except OSError as error:
        return f"runs go on, but which of them can't be read: {error}"
    lines = [*living.values(), *_starting(launched, set(living))]
    if len(lines) > _NAMED:
        lines = [*lines[:_NAMED], f"and {len(lines) - _NAMED} more go on: {runnable(PROG)} runs"]
    return "\n".join(lines)


def _living() -> Iterator[tuple[Path, str]]:
    """Each run that goes on: its folder and what is said of it."""
    now = time.time()
    for run in find_runs().found:
        if run.status is None:
            continue
        state = observed_state(run.status, now)
        if state.final or state is RunState.LOST:
            continue
        step = fmt.progress(run.status.step, run.status.total_steps)
        name = harmless(run.record.exp_name)
        back = f"{runnable(PROG)} attach {name}"
        yield run.path, f"{name} goes on (step {step}); back to it: {back}"


def _starting(launched: "Iterable[Launched]", told: set[Path]) -> Iterator[str]:
    for each in launched:
        if each.run_dir.resolve() not in told and each.exit_code() is None:
            name, log = harmless(each.run_dir.name), harmless(str(each.log))
            yield (
                f"{name} goes on starting (process {each.pid}, its log: {log}); "
                "plugrl-tui lists it once its server listens"
            )
