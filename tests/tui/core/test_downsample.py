"""Extremes of a long curve, against looking at every value."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrl_tui.core.downsample import Extent, Pyramid, smoothed


def brute(values: list[float], first: int, last: int) -> Extent:
    finite = [v for v in values[first:last] if math.isfinite(v)]
    return Extent(min(finite, default=math.inf), max(finite, default=-math.inf))


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=700),
    st.integers(0, 700),
    st.integers(0, 700),
)
def test_every_range_has_the_extremes_of_its_values(values, first, last):
    first, last = sorted((min(first, len(values)), min(last, len(values))))
    assert Pyramid(values).extent(first, last) == brute(values, first, last)


@pytest.mark.parametrize("num", [1, 7, 80, 999, 5000])
def test_columns_cover_all_values_without_a_gap(num):
    chance = random.Random(1)
    values = [chance.random() for _ in range(1000)]
    columns = Pyramid(values).columns(num)
    assert len(columns) == min(num, 1000)
    assert min(c.low for c in columns) == min(values)
    assert max(c.high for c in columns) == max(values)
    part = len(columns) - 1
    assert columns[-1] == brute(values, part * 1000 // len(columns), 1000)


def test_a_million_points_are_looked_at_through_few_entries():
    pyramid = Pyramid([0.0] * 8**5)
    assert len(list(pyramid._covering(0, 8**5))) == 1
    assert len(list(pyramid._covering(1, 8**5 - 1))) <= 2 * 7 * 5


def test_smoothing_begins_at_the_first_value_and_keeps_gaps():
    result = smoothed([4.0, math.nan, 8.0], 0.5)
    assert result[0] == 4.0
    assert math.isnan(result[1])
    assert result[2] == pytest.approx((0.5 * 0.5 * 4 + 0.5 * 8) / 0.75)
