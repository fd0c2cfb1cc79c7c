"""``plugrl-flow cancel RUN``: stop a run, which saves; works without Prefect."""

import os
import signal
import time
from collections.abc import Sequence

from flows.run_words import reason_of, state_of, steps_of
from plugrl.cli.entry import EXIT_FAILED, write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.errors import UsageError
from plugrl.runs import catalog, liveness
from plugrl.runs.catalog import FoundRun
from plugrl.runs.records import RunState

TIMEOUT_S = 120.0
"""How long a run may take to save and end; a learn in progress is waited for."""
POLL_S = 0.2
PEACEFUL = {RunState.STOPPED, RunState.DONE}


def run(argv: Sequence[str], prog: str) -> int:
    """Ask a run to stop, and wait until it has; returns the exit code.

    Returns:
        0; or 1, if it goes on all the same, or ended otherwise than by stopping.

    Raises:
        UnknownNameError: there is no such run.
        UsageError: it does not run, or runs on another machine or as another user.
    """
    parser = FlagParser(
        prog=prog, description="Stop a run gracefully: it saves, and can be resumed."
    )
    parser.add_argument("run", metavar="RUN", help="its name, ALGO/POLICY/NAME, or its folder")
    parser.add_argument("--no-wait", action="store_true", help="leave once it was asked to stop")
    arguments = parser.parse_args(list(argv))
    found = catalog.find_run(arguments.run)
    name = found.record.exp_name
    _ask(found)
    if arguments.no_wait:
        write(f"{name} was asked to stop")
        return 0
    write(f"{name} was asked to stop; waiting until it has saved ...")
    deadline = time.monotonic() + TIMEOUT_S
    while _runs(found := catalog.find_run(str(found.path))):
        if time.monotonic() > deadline:
            write(f"{name} goes on after {TIMEOUT_S:g} s: {state_of(found)}; see its log.txt")
            return EXIT_FAILED
        time.sleep(POLL_S)
    saved = None if found.status is None else found.status.last_checkpoint
    kept = "without a checkpoint" if saved is None else f"its checkpoint is {saved.path}"
    peaceful = state_of(found) in PEACEFUL
    why = "" if peaceful else f": {reason_of(found)}"
    write(f"{name} is {state_of(found)} at step {steps_of(found)}{why}; {kept}")
    return 0 if peaceful else EXIT_FAILED


def _ask(run: FoundRun) -> None:
    pid = _process_of(run)
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError as error:
        name = run.record.exp_name
        raise UsageError(
            f"expected to stop {name}, whose process is {pid}, got {error.strerror}"
        ) from error


def _process_of(run: FoundRun) -> int:
    """The process to ask: who answers for the run, or a server that outlived it."""
    status, name = run.status, run.record.exp_name
    if status is None or status.state.final:
        raise UsageError(f"expected a run that goes on, got {name}, which is {state_of(run)}")
    if not liveness.on_this_host(status):
        raise UsageError(f"{name} runs on {status.host}; cancel it there")
    if pids := liveness.living_pids(status):
        return pids[0]
    raise UsageError(f"expected a run that goes on, got {name}, whose process is gone")


def _runs(run: FoundRun) -> bool:
    status = run.status
    if status is None:
        return False
    over = liveness.observed_state(status, time.time())
    return not over.final and over is not RunState.LOST
