"""Processes that are started, watched and stopped together."""

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection
from multiprocessing.context import SpawnProcess

from plugrl.client.interrupts import StopRequestedError, stop_on_signals

logger = logging.getLogger(__name__)

STOP_GRACE_S = 8.0
"""How long processes may take to stop before they are killed."""

Work = Callable[[int], int]
"""What a process does, given its index from 0: returns its exit code. Picklable."""


def run_in_processes(work: Work, num_processes: int, *, name: str) -> int:
    """Run ``work`` in fresh processes until all are done; call this from the main thread.

    SIGINT and SIGTERM stop all of them; where one fails, the others are stopped too. None
    outlives this process, even if it is killed.

    Args:
        work: handles ``StopRequestedError`` by leaving in good order.
        num_processes: how many.
        name: their names, in the process list of Python and in logs, begin with this.

    Returns:
        0 when all were done or a stop was asked for, 2 when one ended with 2, otherwise 1.
    """
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_main, args=(work, index), name=f"{name}-{index}")
        for index in range(num_processes)
    ]
    try:
        with stop_on_signals(), _stopped_at_exit(processes):
            for process in processes:
                process.start()
            return _watch(processes)
    except StopRequestedError as stop:
        logger.info("%s, all stopped", stop)
        return 0


def _main(work: Work, index: int) -> None:
    threading.Thread(target=_leave_with_parent, name="plugrl-parent", daemon=True).start()
    sys.exit(work(index))


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_GRACE_S)
    os._exit(1)


def _watch(processes: Sequence[SpawnProcess]) -> int:
    running = {process.sentinel: process for process in processes}
    while running:
        for sentinel in connection.wait(list(running)):
            assert isinstance(sentinel, int)
            process = running.pop(sentinel)
            process.join()
            if process.exitcode:
                logger.error(
                    "%s (pid %d) ended with %s, stopping the others",
                    process.name,
                    process.pid,
                    _in_words(process.exitcode),
                )
                return 2 if process.exitcode == 2 else 1
    return 0


def _in_words(exitcode: int) -> str:
    return signal.Signals(-exitcode).name if exitcode < 0 else f"exit code {exitcode}"


@contextlib.contextmanager
def _stopped_at_exit(processes: Sequence[SpawnProcess]) -> Iterator[None]:
    try:
        yield
    finally:
        _stop([process for process in processes if process.pid is not None])


def _stop(started: Sequence[SpawnProcess]) -> None:
    for process in started:
        process.terminate()
    deadline = time.monotonic() + STOP_GRACE_S
    for process in started:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            logger.warning("%s (pid %d) did not stop, killing it", process.name, process.pid)
            process.kill()
            process.join()
