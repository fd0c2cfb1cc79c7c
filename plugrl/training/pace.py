"""How fast a run goes, and when it will be finished."""

import time
from collections.abc import Callable


class Pace:
    """Frames a second since this process began, whatever was restored before."""

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
        self._start_step = start_step
        self._total_steps = total_steps
        self._clock = clock
        self._started_at = clock()

    def metrics(self, step: int) -> dict[str, float]:
        """``time/elapsed_s``, and ``time/fps`` and ``time/eta_s`` once they are known."""
        elapsed = self._clock() - self._started_at
        metrics = {"time/elapsed_s": elapsed}
        if step > self._start_step and elapsed > 0:
            fps = (step - self._start_step) / elapsed
            metrics["time/fps"] = fps
            if self._total_steps is not None:
                metrics["time/eta_s"] = max(self._total_steps - step, 0) / fps
        return metrics
