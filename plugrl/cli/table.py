"""Tables in plain text."""

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Rows of equally many cells, aligned to the left, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(" " * indent + line for line in lines)
