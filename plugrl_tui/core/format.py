"""Numbers for eyes: short, aligned, and never cut in the middle."""

import math
import re
import textwrap
from datetime import datetime

MISSING = "—"

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(number: float | None) -> str:
    """A count in at most five characters: 812, 5,120 becomes 5.12k, 1000000 becomes 1M."""
    if number is None or not math.isfinite(number):
        return MISSING
    for size, unit in _UNITS:
        if abs(number) >= size * 0.9995:
            return _three_digits(number / size) + unit
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def grouped(number: int | None) -> str:
    """A count with all its digits: 8,192."""
    return MISSING if number is None else f"{number:,}"


def value(number: float | None) -> str:
    """A measured number in at most seven characters: .021, 2143, 3.1e-05."""
    if number is None or not math.isfinite(number):
        return MISSING
    if number == 0:
        return "0"
    size = abs(number)
    if size >= 1e6 or size < 1e-4:
        return f"{number:.1e}"
    if size >= 1000:
        return f"{number:.0f}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    text = f"{number:.{min(digits, 5)}f}"
    return text.replace("0.", ".", 1) if size < 1 else text


def percent(share: float | None) -> str:
    """A share of 1: 41%, and one digit after the point below 10 %."""
    if share is None or not math.isfinite(share):
        return MISSING
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if 0 < abs(share) < 0.1 else f"{share:.0%}"


def duration(seconds: float | None) -> str:
    """Hours, minutes, seconds: 18.2 s, 4:07, 1:12:40, 3d 04:10."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return MISSING
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 20 else f"{seconds:.0f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24}d {hours % 24:02d}:{minute:02d}"
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def millis(seconds: float | None) -> str:
    """Milliseconds without their unit: 2.0, 19, 1540."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    ms = seconds * 1000
    return f"{ms:.1f}" if ms < 10 else f"{ms:.0f}"


def size(num_bytes: float | None) -> str:
    """Bytes: 512 B, 1.4 MiB."""
    if num_bytes is None:
        return MISSING
    for unit in ("B", "KiB", "MiB", "GiB"):
        if num_bytes < 1024:
            return f"{num_bytes:.0f} {unit}" if unit == "B" else f"{num_bytes:.1f} {unit}"
        num_bytes /= 1024
    return f"{num_bytes:.1f} TiB"


def clock(time: float | None) -> str:
    """The local time of day of seconds since 1970, with milliseconds."""
    if time is None:
        return " " * 12
    try:
        moment = datetime.fromtimestamp(time).astimezone()
    except (ValueError, OverflowError, OSError):  # beyond the calendar
        return MISSING.ljust(12)
    return moment.strftime("%H:%M:%S.%f")[:-3]


def progress(step: int | None, total: int | None) -> str:
    """Steps of a total: 412k/1M."""
    return count(step) if total is None else f"{count(step)}/{count(total)}"


def fitted(text: str, width: int, *, ellipsis: str = "…") -> str:
    """The text in ``width`` columns, cut between words where one fits, with a sign that it was."""
    if len(text) <= width:
        return text
    if width <= len(ellipsis):
        return text[: max(width, 0)]
    cut = text[: width - len(ellipsis)]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank >= width // 2 else cut).rstrip() + ellipsis


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, between words or a path's parts if it can."""
    width = max(width, 1)
    fits = all(len(word) <= width for word in text.split())
    wrapper = textwrap.TextWrapper if fits else _AtSlashesToo
    return wrapper(width, break_on_hyphens=False).wrap(text) or [""]


class _AtSlashesToo(textwrap.TextWrapper):
    """Breaks behind the slashes of a path, which has no blanks."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=/)(?=[^/\s]))")


def _three_digits(number: float) -> str:
    digits = 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
