"""Whether the process of a run is still there, and what to call the run if it is not."""

import os
import socket

import psutil

from plugrl.runs.records import RunState, RunStatus

STARTED_TOLERANCE_S = 2.0
"""Start times are told by the clock, which may be set; pids are not used again this soon."""
STALLED_AFTER_S = 60.0
"""A server writes its status every few seconds; one that is silent for longer hangs."""


def started_at(pid: int) -> float | None:
    """When a process began, in seconds since the epoch; None where there is none."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def own_start() -> float:
    """When this process began."""
    return psutil.Process(os.getpid()).create_time()


def process_is(pid: int | None, started: float | None) -> bool:
    """Whether the process is alive, and the one that began at ``started`` (any, where None).

    A process that has ended and that nobody has waited for counts as gone.
    """
    if pid is None or pid <= 0:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return started is None or abs(process.create_time() - started) <= STARTED_TOLERANCE_S
    except psutil.AccessDenied:
        return True
    except psutil.Error:
        return False


def this_host() -> str:
    """The name of this machine, as ``status.json`` tells it."""
    return socket.gethostname()


def on_this_host(status: RunStatus) -> bool:
    """Whether the run's processes are of this machine, so that their pids mean something here."""
    return status.host in {"", this_host()}


def observed_state(status: RunStatus | None, now: float) -> RunState:
    """The state as a reader should show it: as written, or STALLED or LOST.

    Args:
        status: what the file says; None, where there is none that can be read, is no last word.
        now: seconds since the epoch.
    """
    if status is None:
        return RunState.LOST
    if status.state.final:
        return status.state
    if on_this_host(status) and not process_is(status.pid, status.pid_started):
        return RunState.LOST
    # A supervisor that waits between two servers writes nothing meanwhile.
    has_server = status.url is not None or status.state in {RunState.RUNNING, RunState.STOPPING}
    if has_server and now - status.updated_at > STALLED_AFTER_S:
        return RunState.STALLED
    return status.state
