"""Curves in braille."""

from plugrl_tui.core.downsample import Extent
from plugrl_tui.core.raster import NO_DOTS, bounds, draw


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right():
    picture = draw([Extent(n, n) for n in range(8)], 4, 2)
    assert picture == (["⠀⠀⣠⠞", "⣠⠞⠁⠀"], 0, 7)


def test_columns_are_joined_so_that_a_jump_is_a_line():
    picture = draw([Extent(0, 0), Extent(9, 9)], 1, 1)
    assert picture.lines == ["⣸"]


def test_a_gap_stays_empty():
    picture = draw([Extent(0, 1), None, None, Extent(0, 1)], 2, 1)
    assert picture.lines == ["⡇⢸"]


def test_nothing_is_drawn_of_nothing():
    assert draw([], 3, 1).lines == [NO_DOTS * 3]


def test_a_constant_has_room_above_and_below():
    assert bounds([Extent(5, 5)]) == Extent(4.5, 5.5)
    assert bounds([]) == Extent(0, 1)
