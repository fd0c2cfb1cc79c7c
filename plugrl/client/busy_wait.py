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
PAUSE = 2**12
"""Waits that are slept through where others want the core."""
LATELY = 16
"""Waits whose share with another process on the core is looked at; a kernel has work, too."""


class BusyWait:
    """Reads a socket, looking again and again where the answer is likely to come at once.

    On a machine with an idle core that is free, and no core has to be woken. So it is done only
    where this machine has a core for each env client and one for the server, and not for a while
    after every second wait has had to leave its core to somebody. A quota of CPU time, which
    containers may have, is not looked at.
    """

    def __init__(self, sock: socket.socket, num_procs: int) -> None:
        """Read ``sock``, beside as many env clients as ``num_procs`` on this machine."""
        self._socket = sock
        self._has_cores = len(os.sched_getaffinity(0)) > num_procs
        self._was_short = False
        self._pause = 0
        self._crowded = 0.0
        """Share of the latest waits in which this thread was displaced."""

    @property
    def pausing(self) -> bool:
        """Whether the core is left to others for now."""
        return self._pause > 0

    def recv(self, most: int) -> bytes:
        """At least one byte, or none at the end of the stream.

        Raises:
            OSError: as ``socket.recv``.
        """
        began = time.perf_counter()
        if self.pausing:
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
        self._crowded += ((_displaced() != before) - self._crowded) / LATELY
        if self._crowded > 0.5:
            self._pause, self._crowded = PAUSE, 0.0
        return data


def _displaced() -> int:
    """How often this thread had to leave its core to another."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
