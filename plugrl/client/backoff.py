"""How long to wait before the next attempt to connect, and when to give up."""

import random

from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, IncompatibleError, ServerResyncError

RESYNC_LIMIT = 5
"""Attempts in a row that may end with a resync: what the server can't take won't change."""


class Backoff:
    """Pauses that double, with jitter, until an attempt succeeds or too many have failed."""

    def __init__(self, config: ClientConfig) -> None:
        """Start with the shortest pause."""
        self._config = config
        self._failures = 0
        self._resyncs = 0
        # Not from the config's seed: clients that lost one server must not return in step.
        self._rng = random.Random()  # noqa: S311

    def reset(self) -> None:
        """Begin anew after an attempt that succeeded."""
        self._failures = self._resyncs = 0

    def next_pause(self, error: ConnectionLostError) -> float:
        """Seconds to wait after a failure: at least ``retry_first_s``, at most ``retry_max_s``.

        Raises:
            ConnectionLostError: it was one too many.
            IncompatibleError: so it was, and the server refused what it was sent each time.
        """
        config = self._config
        self._failures += 1
        self._resyncs = self._resyncs + 1 if isinstance(error, ServerResyncError) else 0
        if self._resyncs >= RESYNC_LIMIT:
            raise IncompatibleError(
                f"gave up after {self._resyncs} attempts in a row: the server keeps refusing what "
                f"this client sends, and its log says why; the last time, {error}"
            )
        if self._failures >= config.retry_limit:
            raise ConnectionLostError(
                f"gave up after {self._failures} attempts in a row, the last one: {error}"
                if self._failures > 1
                else f"gave up after one attempt: {error}"
            )
        longest = max(config.retry_first_s, config.retry_max_s)
        # Bounded, because floats end at 2.0**1024.
        doubled = config.retry_first_s * 2.0 ** min(self._failures - 1, 60)
        return min(self._rng.uniform(1.0, 1.5) * min(doubled, longest / 1.5), longest)
