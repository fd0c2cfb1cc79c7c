"""Whether the process of a run is still there, and what to call the run if it is not."""

import os
import socket
from pathlib import Path

import psutil

from plugrl.runs.records import RunState, RunStatus

STARTED_TOLERANCE_S = 2.0
"""Where only the clock tells when a process began, which may be slewed; pids are not used again
this soon."""
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_START_AFTER_NAME = 19
"""``starttime`` is field 22 of ``/proc/PID/stat``, the name is field 2: see proc(5)."""
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


def birth_of(pid: int) -> str | None:
    """What tells a process from all others that ever have its pid, whatever the clock is set to.

    The boot's id and the ticks from the boot to the process's start, as Linux has them; None where
    there is no such process, or where the system doesn't say.
    """
    try:
        boot = Path(_BOOT_ID).read_text("ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        # The name, in brackets, may have brackets and blanks itself; what follows has none.
        ticks = int(stat.rpartition(b")")[2].split()[_START_AFTER_NAME])
    except (OSError, ValueError, IndexError):
        return None
    return f"{boot}:{ticks}"


def own_birth() -> str | None:
    """The same of this process."""
    return birth_of(os.getpid())


def process_is(pid: int | None, started: float | None, birth: str | None = None) -> bool:
    """Whether the process is alive, and the one that was meant.

    A process that has ended and that nobody has waited for counts as gone.

    Args:
        pid: the process; None is none.
        started: when it began, in seconds since the epoch; counts only where there is no
            ``birth``, as the clock may have been set since. Any, where None.
        birth: what ``birth_of`` said of it.
    """
    if pid is None or pid <= 0:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        now = None if birth is None else birth_of(pid)
        if now is not None:
            return now == birth
        return started is None or abs(process.create_time() - started) <= STARTED_TOLERANCE_S
    except psutil.AccessDenied:
        return True
    except psutil.Error:
        return False


def owner_lives(status: RunStatus) -> bool:
    """Whether the process that answers for the run is there; it must be of this machine."""
    return process_is(status.pid, status.pid_started, status.pid_birth)


def server_lives(status: RunStatus) -> bool:
    """Whether the run's server is there; it must be of this machine."""
    return process_is(status.server_pid, status.server_pid_started, status.server_pid_birth)


def living_pids(status: RunStatus) -> list[int]:
    """The run's processes that are there, the one that answers for it first."""
    owner = status.pid if owner_lives(status) else None
    server = status.server_pid if server_lives(status) else None
    return list(dict.fromkeys(pid for pid in (owner, server) if pid is not None))


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
    if on_this_host(status) and not owner_lives(status):
        return RunState.LOST
    # A supervisor that waits between two servers writes nothing meanwhile.
    has_server = status.url is not None or status.state in {RunState.RUNNING, RunState.STOPPING}
    if has_server and now - status.updated_at > STALLED_AFTER_S:
        return RunState.STALLED
    return status.state
