"""The signals that ask for a stop, and telling one that arrives twice from a second one."""

import signal
import time
from collections.abc import Callable

ECHO_S = 0.5
"""Within this time of the first signal, any other is the same: ``timeout`` signals a process and
then its group, and a terminal may signal a parent that passes it on."""


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGINT, SIGTERM and, of a terminal that is closed, SIGHUP unless ``nohup`` has it ignored."""
    usual = (signal.SIGINT, signal.SIGTERM)
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return usual if ignored else (*usual, signal.SIGHUP)


class EchoFilter:
    """Knows when the first signal came."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Wait for the first signal, by ``clock`` in seconds."""
        self._clock = clock
        self._first_at: float | None = None

    def is_echo(self) -> bool:
        """Whether the signal that comes now is the first one again."""
        now = self._clock()
        if self._first_at is None:
            self._first_at = now
            return False
        return now - self._first_at < ECHO_S
