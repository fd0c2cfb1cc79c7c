"""``--detach``: the same command, in a session of its own."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from plugrl.cli.entry import write
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.programs import runnable
from plugrl.errors import RunRecordError
from plugrl.runs.home import home
from plugrl.runs.output_files import prune
from plugrl.runs.records import RunStatus, read_status

START_TIMEOUT_S = 120.0
"""How long we look for the server before we leave the run to itself."""
POLL_S = 0.1


def detach(argv: Sequence[str], plan: LaunchPlan) -> int:
    """Start ``plugrl-flow train ARGV`` in the background; returns once its server is up.

    Returns:
        0; or the run's exit code, if it ends before that: what it said is shown then.
    """
    log = home() / "logs" / f"{plan.exp_name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    prune(log.parent)
    with log.open("ab") as output:
        before = output.tell()
        process = subprocess.Popen(  # noqa: S603 -- our own command
            [sys.executable, "-m", "flows.cli", "train", *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if (status := _status_by(process.pid, plan.run_dir)) is not None:
            write(f"{plan.exp_name} trains in the background, at {status.url}")
            break
        time.sleep(POLL_S)
    else:
        if process.returncode is not None:
            words = log.read_bytes()[before:].decode("utf-8", "replace")
            how = "did not begin" if process.returncode else "has ended already"
            write(f"{plan.exp_name} {how}:\n{words}")
            return process.returncode
        write(f"{plan.exp_name} is not up after {START_TIMEOUT_S:g} s; it is left to itself")
    program = runnable("plugrl-flow")
    write(
        f"run folder: {plan.run_dir}\noutput: {log}\n"
        f"to look at it: {program} show {plan.exp_name}\n"
        f"to stop it: {program} cancel {plan.exp_name}"
    )
    return 0


def _status_by(pid: int, run_dir: Path) -> RunStatus | None:
    """The run's status, once the supervisor ``pid`` has a server that listens."""
    try:
        status = read_status(run_dir)
    except (OSError, RunRecordError):
        return None
    return status if status.pid == pid and status.url is not None else None
