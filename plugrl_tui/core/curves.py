"""Every metric of a run over its steps, as it grows and as resumes cut it back."""

import bisect
import math
from collections.abc import Mapping

from plugrl_tui.core.downsample import Pyramid

METRICS_FILE = "metrics.jsonl"
"""In a run's folder: an object a line, one for each learn."""
RETURN = "rollout/episode_return_mean"
LENGTH = "rollout/episode_length_mean"


def short_name(metric: str) -> str:
    """A metric without its group; the one that matters most has a word of its own."""
    return "return" if metric == RETURN else metric.rpartition("/")[2]


class Curve:
    """One metric: its points in order of steps."""

    def __init__(self) -> None:
        """Hold nothing."""
        self.steps: list[int] = []
        self.times: list[float] = []
        """Seconds since 1970."""
        self.values = Pyramid()

    def append(self, step: int, time: float, value: float) -> None:
        """Add a point."""
        self.steps.append(step)
        self.times.append(time)
        self.values.append(value)

    def cut_after(self, step: int) -> None:
        """Drop the points after ``step``: a resume went back there."""
        kept = bisect.bisect_right(self.steps, step)
        if kept < len(self.steps):
            self.values = Pyramid(self.values.values[:kept])
            del self.steps[kept:], self.times[kept:]

    @property
    def last(self) -> float | None:
        """The newest value that is a number."""
        return next((v for v in reversed(self.values.values) if math.isfinite(v)), None)


class Curves:
    """The curves of a run by name."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._curves: dict[str, Curve] = {}
        self.steps: list[int] = []
        """Those of the learns."""

    def add(
        self,
        step: int,
        time: float,
        metrics: Mapping[str, float | None],
        *,
        is_learn: bool = True,
    ) -> None:
        """Add what one learn reported; None is a number that JSON can't say.

        Args:
            step: frames stored then.
            time: seconds since 1970.
            metrics: numbers by name.
            is_learn: whether the learn was at just that step.
        """
        if is_learn and (not self.steps or self.steps[-1] < step):
            self.steps.append(step)
        for name, value in metrics.items():
            curve = self._curves.setdefault(name, Curve())
            curve.append(step, time, math.nan if value is None else float(value))

    def cut_after(self, step: int) -> None:
        """Forget what a resume at ``step`` has superseded."""
        del self.steps[bisect.bisect_right(self.steps, step) :]
        for curve in self._curves.values():
            curve.cut_after(step)

    def get(self, name: str) -> Curve | None:
        """A curve, where there is one of that name."""
        return self._curves.get(name)

    def names(self) -> list[str]:
        """All names: the return first, then as they were reported."""
        return sorted(self._curves, key=lambda name: (name != RETURN, name != LENGTH))

    def frames_per_learn(self) -> int | None:
        """How many frames lay between the two latest learns."""
        return self.steps[-1] - self.steps[-2] if len(self.steps) > 1 else None

    def last(self, name: str) -> float | None:
        """The newest number of a metric."""
        curve = self._curves.get(name)
        return None if curve is None else curve.last
