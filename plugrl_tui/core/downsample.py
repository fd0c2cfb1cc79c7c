"""A long curve in few columns: the lowest and the highest value of each.

A pyramid of halvings keeps that cheap for a million points: each level holds the extremes of pairs
of the level below, so that a column looks at a few entries only.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FACTOR = 8
"""Points of one level that make one of the next."""


SMOOTHING = (0.0, 0.9, 0.99)
"""Weights of the average that charts offer, none first."""


class Extent(NamedTuple):
    """The lowest and the highest of some values."""

    low: float
    high: float


class Pyramid:
    """Values in order, only ever appended; NaN and infinities are left out of every extent."""

    def __init__(self, values: Sequence[float] = ()) -> None:
        """Hold ``values``."""
        self.values: list[float] = []
        self._levels: list[list[Extent]] = []
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return len(self.values)

    def append(self, value: float) -> None:
        """Add one value; every eighth adds an entry to the level above."""
        self.values.append(value)
        below: Sequence[float | Extent] = self.values
        for level in range(len(self._levels) + 1):
            if len(below) % _FACTOR:
                return
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append(_extent_of(below[-_FACTOR:]))
            below = self._levels[level]

    def extent(self, first: int, last: int) -> Extent:
        """The extremes of the values at ``first`` up to ``last``, without it."""
        return _extent_of(list(self._covering(first, last)))

    def columns(self, num: int, first: int = 0, last: int | None = None) -> list[Extent]:
        """The extremes of ``num`` equally long parts; fewer where there are fewer values."""
        last = len(self.values) if last is None else last
        total = last - first
        num = min(num, total)
        return [
            self.extent(first + part * total // num, first + (part + 1) * total // num)
            for part in range(num)
        ]

    def _covering(self, first: int, last: int) -> Iterator[float | Extent]:
        """Entries, of levels as high as possible, that cover the range exactly."""
        level, size = -1, 1
        while first < last:
            while first % (size * _FACTOR) == 0 and first + size * _FACTOR <= last:
                if level + 1 >= len(self._levels):
                    break
                level, size = level + 1, size * _FACTOR
            while size > 1 and (first % size or first + size > last):
                level, size = level - 1, size // _FACTOR
            yield self.values[first] if level < 0 else self._levels[level][first // size]
            first += size


def smoothed(values: Sequence[float], weight: float) -> list[float]:
    """The exponential moving average, corrected for its start; gaps stay gaps."""
    mean, total, result = 0.0, 0.0, []
    for value in values:
        if math.isfinite(value):
            mean = weight * mean + (1 - weight) * value
            total = weight * total + (1 - weight)
        result.append(mean / total if total and math.isfinite(value) else math.nan)
    return result


def _extent_of(parts: Sequence[float | Extent]) -> Extent:
    low, high = math.inf, -math.inf
    for part in parts:
        lower, higher = part if isinstance(part, Extent) else (part, part)
        if -math.inf < lower < low:
            low = lower
        if high < higher < math.inf:
            high = higher
    return Extent(low, high)
