"""The frames collected between two learns, in arrays that are written in place.

Legend: T capacity, m rows stored, *obs, *action: shapes of one row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Rows:
    """Some frames as arrays with one row each."""

    obs: NDArray[Any]
    """(m, *obs) as the policy stores it."""
    actions: NDArray[Any]
    """(m, *action)"""
    log_probs: NDArray[np.float32]
    """(m,) of the actions under the policy that took them."""
    values: NDArray[np.float32]
    """(m,) V(obs) of that policy."""
    rewards: NDArray[np.float64]
    """(m,)"""
    terminated: NDArray[np.bool_]
    """(m,)"""
    truncated: NDArray[np.bool_]
    """(m,)"""
    next_obs: NDArray[Any]
    """(m, *obs)"""
    streams: NDArray[np.int64]
    """(m,) see ``Frames``."""
    sequence: NDArray[np.int64]
    """(m,) see ``Frames``."""

    def map(self, function: Any) -> "Rows":
        """``function`` of every array."""
        return Rows(*(function(getattr(self, name)) for name in self.__slots__))


class Rollout:
    """A buffer of T rows, filled by batches of rows from any streams in any interleaving."""

    def __init__(self, capacity: int) -> None:
        """Hold nothing; the arrays are made for the first rows' shapes."""
        self.capacity = capacity
        self._arrays: Rows | None = None
        self._size = 0

    def __len__(self) -> int:
        """Rows stored, m."""
        return self._size

    @property
    def room(self) -> int:
        """Rows that still fit."""
        return self.capacity - self._size

    def add(self, rows: Rows) -> None:
        """Store rows, at most ``room``."""
        num_rows = len(rows.rewards)
        assert num_rows <= self.room
        if self._arrays is None:
            self._arrays = rows.map(
                lambda array: np.empty((self.capacity, *array.shape[1:]), array.dtype)
            )
        where = slice(self._size, self._size + num_rows)
        for name in Rows.__slots__:
            getattr(self._arrays, name)[where] = getattr(rows, name)
        self._size += num_rows

    def by_stream(self) -> Rows:
        """All rows, copied, ordered by stream and in each stream by time."""
        assert self._arrays is not None
        streams, sequence = self._arrays.streams[: self._size], self._arrays.sequence[: self._size]
        order = np.lexsort((sequence, streams))
        return self._arrays.map(lambda array: array[order])

    def clear(self) -> None:
        """Forget all rows."""
        self._size = 0
