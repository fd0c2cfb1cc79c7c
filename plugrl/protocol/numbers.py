"""Numbers that float32 can hold: learners compute in it, and an infinity there spoils updates."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float32).max)


def in_range(numbers: NDArray[np.floating[Any]]) -> bool:
    """Whether all are finite, and such as float32 can hold."""
    if numbers.dtype.itemsize < 4:
        return bool(np.isfinite(numbers).all())
    # Mostly the sum of squares, one call, says it already: with a NaN in it, it is no less.
    return bool(np.vdot(numbers, numbers) <= LARGEST or (np.abs(numbers) <= LARGEST).all())
