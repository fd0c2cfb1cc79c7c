"""Waits of microseconds, spent awake: to be woken takes as long as they last."""

import os
import socket
import sys
import time

if sys.platform == "linux":
    import resource

AVAILABLE = sys.platform == "linux"
"""Whether this system counts what a thread is displaced by."""
LONGEST_S = 1e-3
"""A wait that lasts longer is slept through, and the one after it too."""
SHORTEST_PAUSE = 64
"""Waits that are slept through once somebody else has wanted the core."""
LONGEST_PAUSE = 2**14


class BusyWait:
    """Reads a socket, looking again and again where the answer is likely to come at once.

    On a machine with an idle core that is free, and no core has to be woken. So it is done only
    where this machine has a core for each env client and one for the server, and not for a while
    once another process was given this one.
    """

    def __init__(self, sock: socket.socket, num_procs: int) -> None:
        """Read ``sock``, beside as many env clients as ``num_procs`` on this machine."""
        self._socket = sock
        self._has_cores = len(os.sched_getaffinity(0)) > num_procs
        self._was_short = False
        self._pause = 0
        self._next_pause = SHORTEST_PAUSE

    def recv(self, most: int) -> bytes:
        """At least one byte, or none at the end of the stream.

        Raises:
            OSError: as ``socket.recv``.
        """
        began = time.perf_counter()
        if self._pause:
            self._pause -= 1
        elif self._was_short and self._has_cores:
            data = self._look(most, began + LONGEST_S)
            if data is not None:
                return data
        data = self._socket.recv(most)
        self._was_short = time.perf_counter() - began < LONGEST_S
        return data

    def _look(self, most: int, until: float) -> bytes | None:
        before = _displaced()
        data = None
        while data is None and time.perf_counter() < until:
            try:
                data = self._socket.recv(most, socket.MSG_DONTWAIT)
            except BlockingIOError:
                os.sched_yield()
        if _displaced() != before:
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause, LONGEST_PAUSE)
        elif self._next_pause > SHORTEST_PAUSE:
            self._next_pause -= 1
        return data


def _displaced() -> int:
    """How often this thread had to leave its core to another."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
