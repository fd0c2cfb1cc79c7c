"""Tables in plain text."""

import shutil
import sys
import textwrap
from collections.abc import Sequence

MIN_WRAP_WIDTH = 20
"""A last column narrower than this is left to the terminal."""


def columns(rows: Sequence[Sequence[str]], *, indent: int = 0, width: int = 0) -> str:
    """Rows of equally many cells, aligned to the left, two spaces apart.

    Args:
        rows: at least one.
        indent: spaces before each line.
        width: where lines end: the last column is wrapped between words; 0 wraps nothing.
    """
    rows = [[harmless(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    start = indent + sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = width - start
    lines: list[str] = []
    for *cells, last in rows:
        head = "  ".join((*(c.ljust(w) for c, w in zip(cells, widths[:-1], strict=True)), ""))
        parts = textwrap.wrap(last, room) if room >= MIN_WRAP_WIDTH and last else [last]
        lines.append(f"{' ' * indent}{head}{parts[0]}".rstrip())
        lines += [" " * start + part for part in parts[1:]]
    return "\n".join(lines)


def harmless(text: str) -> str:
    """The text without signs that a terminal obeys: logs and names come from anywhere."""
    return text if text.isprintable() else text.translate(_OBEYED)


def terminal_width() -> int:
    """Columns of the terminal on standard output; 0 where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


_SURROGATES = range(0xD800, 0xE000)
"""Halves of signs, which JSON can hold and no terminal can be sent."""
_OBEYED = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_SURROGATES], "·")
