"""Curves as braille: two by four dots a column, so that 40 columns show 80 points."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from plugrl_tui.core.downsample import Extent
from plugrl_tui.core.glyphs import BRAILLE

NO_DOTS = chr(BRAILLE)
"""An empty place: as wide as the others, also in fonts that draw braille wider than letters."""
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_ROWS_PER_LINE, _COLUMNS_PER_SIGN = len(_DOTS), len(_DOTS[0])


class Picture(NamedTuple):
    """A curve drawn."""

    lines: list[str]
    low: float
    """The value at the lowest dot."""
    high: float


def bounds(extents: Sequence[Extent]) -> Extent:
    """The lowest and highest of all; a little room around a constant."""
    low = min((e.low for e in extents if e.low <= e.high), default=0.0)
    high = max((e.high for e in extents if e.low <= e.high), default=1.0)
    if low == high:
        room = abs(low) * 0.1 or 1.0
        low, high = low - room, high + room
    return Extent(low, high)


def draw(
    extents: Sequence[Extent | None], width: int, height: int, range_: Extent | None = None
) -> Picture:
    """Draw one extent per dot column, joined by lines; None and empty ones leave a gap.

    Args:
        extents: at most ``2 * width``; stretched over the width.
        width: columns.
        height: lines.
        range_: the values at the lowest and the highest dot; those of the extents by default.
    """
    range_ = range_ or bounds([extent for extent in extents if extent is not None])
    num_dots = height * _ROWS_PER_LINE
    grid = [[0] * width for _ in range(height)]
    columns = width * _COLUMNS_PER_SIGN
    before: Extent | None = None
    for x in range(columns if extents else 0):
        place = x * len(extents) // columns if len(extents) > 1 else 0
        extent = extents[place]
        if extent is None or extent.low > extent.high:
            before = None
            continue
        low, high = _joined(extent, before)
        for y in range(_dot(low, range_, num_dots), _dot(high, range_, num_dots) + 1):
            line, dot = divmod(num_dots - 1 - y, _ROWS_PER_LINE)
            grid[line][x // _COLUMNS_PER_SIGN] |= _DOTS[dot][x % _COLUMNS_PER_SIGN]
        before = extent
    lines = ["".join(chr(BRAILLE + dots) for dots in row) for row in grid]
    return Picture(lines, range_.low, range_.high)


def _joined(extent: Extent, before: Extent | None) -> Extent:
    """The extent, stretched so that it meets the one before it."""
    if before is None:
        return extent
    if before.high < extent.low:
        return Extent(before.high, extent.high)
    if before.low > extent.high:
        return Extent(extent.low, before.low)
    return extent


def _dot(value: float, range_: Extent, num_dots: int) -> int:
    share = (value - range_.low) / max(range_.high - range_.low, 1e-300)
    return min(max(math.floor(share * (num_dots - 1) + 0.5), 0), num_dots - 1)
