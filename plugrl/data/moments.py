"""Running mean and variance.

Legend: m rows of a batch; *shape, the shape of a row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and (population) variance of all rows so far, in float64."""

    mean: NDArray[np.float64]
    """(*shape)"""
    var: NDArray[np.float64]
    """(*shape)"""
    count: float
    """Rows so far."""

    @staticmethod
    def empty(shape: tuple[int, ...] = ()) -> "Moments":
        """Mean 0 and variance 1, which the first rows replace."""
        return Moments(np.zeros(shape), np.ones(shape), 0.0)

    def including(self, rows: NDArray[np.float64]) -> "Moments":
        """The moments of these rows too, (m, *shape) with m at least 1.

        Chan et al. (1979), equations 2.1: two sets' squared deviations add up, and the distance
        of their means counts by n_a n_b / (n_a + n_b).
        """
        num_rows = len(rows)
        total = self.count + num_rows
        distance = rows.mean(axis=0) - self.mean
        squares = (
            self.var * self.count
            + rows.var(axis=0) * num_rows
            + distance**2 * (self.count * num_rows / total)
        )
        mean = self.mean + distance * (num_rows / total)
        return Moments(np.asarray(mean), np.asarray(squares / total), total)

    def state(self) -> dict[str, Any]:
        """JSON that ``from_state`` takes back, to the last bit."""
        return {"mean": self.mean.tolist(), "var": self.var.tolist(), "count": self.count}

    @staticmethod
    def from_state(state: dict[str, Any]) -> "Moments":
        """What ``state`` returned."""
        return Moments(np.array(state["mean"]), np.array(state["var"]), state["count"])
