"""Curves as an SVG file, for a page or a paper: thin lines, few words, no script."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from plugrl_tui.core.format import count, value

WIDTH, HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 44
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Okabe and Ito's, which most colour-blind people tell apart."""
_DASHES = ("none", "7 3", "2 2", "8 3 2 3")
"""So that colour is not all that tells them apart."""
_NUM_TICKS = 5


class Line(NamedTuple):
    """One curve."""

    name: str
    points: Sequence[tuple[float, float]]


def svg(lines: Sequence[Line], *, title: str, x_label: str) -> str:
    """A picture of the curves; empty ones are named and not drawn."""
    xs = [x for line in lines for x, _ in line.points] or [0.0, 1.0]
    ys = [y for line in lines for _, y in line.points] or [0.0, 1.0]
    x_range, y_range = _widened(min(xs), max(xs)), _widened(min(ys), max(ys))
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-size="14">{escape(title)}</text>',
        *_grid(x_range, y_range),
        f'<text x="{WIDTH - _RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{escape(x_label)}</text>',
    ]
    for place, line in enumerate(lines):
        parts += _drawn(place, line, x_range, y_range)
    return "\n".join([*parts, "</svg>", ""])


def _drawn(
    place: int, line: Line, x_range: tuple[float, float], y_range: tuple[float, float]
) -> list[str]:
    colour, dash = _COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)]
    style = f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"'
    path = " ".join(f"{_x(x, x_range):.1f},{_y(y, y_range):.1f}" for x, y in line.points)
    left = _LEFT + place * (WIDTH - _LEFT - _RIGHT) / len(_COLOURS)
    return [
        f'<polyline fill="none" {style} points="{path}"/>',
        f'<line x1="{left}" x2="{left + 22}" y1="30" y2="30" {style}/>',
        f'<text x="{left + 27}" y="34">{escape(line.name)}</text>',
    ]


def _grid(x_range: tuple[float, float], y_range: tuple[float, float]) -> list[str]:
    parts = []
    for tick in range(_NUM_TICKS):
        share = tick / (_NUM_TICKS - 1)
        x, y = _between(x_range, share), _between(y_range, share)
        parts += [
            (
                f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{_y(y, y_range):.1f}" '
                f'y2="{_y(y, y_range):.1f}" stroke="#ddd"/>'
            ),
            (
                f'<text x="{_LEFT - 6}" y="{_y(y, y_range) + 4:.1f}" text-anchor="end">'
                f"{value(y)}</text>"
            ),
            (
                f'<text x="{_x(x, x_range):.1f}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
                f"{count(x)}</text>"
            ),
        ]
    return parts


def _widened(low: float, high: float) -> tuple[float, float]:
    assert math.isfinite(high - low), "only finite points are drawn"
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _between(bounds: tuple[float, float], share: float) -> float:
    return bounds[0] + (bounds[1] - bounds[0]) * share


def _x(x: float, bounds: tuple[float, float]) -> float:
    share = (x - bounds[0]) / (bounds[1] - bounds[0])
    return _LEFT + share * (WIDTH - _LEFT - _RIGHT)


def _y(y: float, bounds: tuple[float, float]) -> float:
    share = (y - bounds[0]) / (bounds[1] - bounds[0])
    return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)
