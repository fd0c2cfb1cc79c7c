"""How fast a run goes, and when it will be finished."""

import time
from collections import deque
from collections.abc import Callable

NUM_LATEST_LEARNS = 10
"""Learns over which the rate is taken, so that a slow start is soon forgotten."""


class Pace:
    """Frames a second over the latest learns of this process, whatever was restored before."""

    def __init__(
        self,
        start_step: int,
        total_steps: int | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            start_step: the step restored from a checkpoint, 0 for a new run.
            total_steps: the step at which the run is finished, where there is one.
            clock: seconds that never go backwards.
        """
        self._total_steps = total_steps
        self._clock = clock
        self._started_at = clock()
        self._warm = False
        self._latest = deque([(self._started_at, start_step)], maxlen=NUM_LATEST_LEARNS + 1)

    def metrics(self, step: int) -> dict[str, float]:
        """``time/elapsed_s``, ``time/fps`` and, from the second learn on, ``time/eta_s``."""
        now = self._clock()
        since, since_step = self._latest[0]
        self._latest.append((now, step))
        metrics = {"time/elapsed_s": now - self._started_at}
        if step > since_step and now > since:
            metrics["time/fps"] = (step - since_step) / (now - since)
            if self._total_steps is not None and self._warm:
                metrics["time/eta_s"] = max(self._total_steps - step, 0) / metrics["time/fps"]
        if not self._warm:
            # What came before the first learn was waiting for clients: no rate to foretell from.
            self._latest.popleft()
            self._warm = True
        return metrics
