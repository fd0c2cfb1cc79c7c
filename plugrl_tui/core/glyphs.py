"""The signs of the app, and what each becomes in seven bits (``--ascii``)."""

import unicodedata
from collections.abc import Sequence

DOT = "●"
CROSS = "✗"
BANG = "!"
CYCLE = "↻"
RING = "○"
CHECK = "✓"
DOTTED = "◌"
HALF = "◐"
UP = "▲"
DOWN = "▼"
THEN = "▸"
BLOCK = "▇"
SPARKS = "▁▂▃▄▅▆▇█"

BRAILLE = 0x2800
"""The first of 256 signs of two by four dots."""

_ASCII = {
    **dict(zip(SPARKS, "_.:-=+#@", strict=True)),
    **dict.fromkeys("─━═╌╍", "-"),
    **dict.fromkeys("│┃║╎▏▕▎▊▌▐", "|"),
    **dict.fromkeys("┌┐└┘╭╮╰╯┏┓┗┛├┤┬┴┼┠┨╺╸┣┫", "+"),
    **dict.fromkeys("░▒▓█", "#"),
    **dict.fromkeys("●✎", "*"),
    **dict.fromkeys("✗\N{MULTIPLICATION SIGN}", "x"),
    **dict.fromkeys("↻◐±", "~"),
    **dict.fromkeys("▸▹→≥", ">"),
    **dict.fromkeys("←≤", "<"),
    **dict.fromkeys("▲↑", "^"),
    **dict.fromkeys("▼▾↓", "v"),
    **dict.fromkeys("…◌", "."),
    **dict.fromkeys("—\N{EN DASH}\N{MINUS SIGN}", "-"),
    **dict(zip("○✓·µ⚠▔", "o+|u!_", strict=True)),
}
_LEVELS = " .:-=+*#@"


def ascii_only(text: str) -> str:
    """The text in seven bits, every sign as wide as before."""
    return text if text.isascii() else "".join(map(_ascii_sign, text))


def sparkline(values: Sequence[float], width: int) -> str:
    """The latest ``width`` values as one line of bars, from zero to the highest of them."""
    shown = list(values)[-width:] if width > 0 else []
    highest = max(shown, default=0.0)
    if highest <= 0:
        return SPARKS[0] * len(shown)
    top = len(SPARKS) - 1
    return "".join(SPARKS[round(max(value, 0.0) / highest * top)] for value in shown)


def bar(share: float, width: int) -> str:
    """A bar of at most ``width``; anything above nothing shows."""
    if share <= 0 or width <= 0:
        return ""
    return BLOCK * max(1, round(min(share, 1.0) * width))


def _ascii_sign(sign: str) -> str:
    if sign.isascii():
        return sign
    if BRAILLE <= ord(sign) < BRAILLE + 256:
        return _LEVELS[(ord(sign) - BRAILLE).bit_count()]
    known = _ASCII.get(sign)
    if known is not None:
        return known
    wide = unicodedata.east_asian_width(sign) in {"W", "F"}
    letter = unicodedata.normalize("NFKD", sign)[0]
    return (letter if letter.isascii() else "?") * (2 if wide else 1)
