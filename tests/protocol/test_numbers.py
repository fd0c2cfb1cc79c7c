"""What counts as a number that float32 can hold."""

import numpy as np
import pytest

from plugrl.protocol.numbers import in_range


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_are_in_range_up_to_the_largest_of_float32(dtype):
    largest = float(min(np.finfo(np.float32).max, np.finfo(dtype).max))
    assert in_range(np.array([[0.0, 1.0], [-largest, largest]], dtype))
    assert in_range(np.zeros((2, 0), dtype))
    for bad in (np.nan, np.inf, -np.inf):
        assert not in_range(np.array([[0.0, bad], [largest, 1.0]], dtype))
    assert not in_range(np.array([1e39]))
