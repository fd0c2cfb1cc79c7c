"""Moments and spans of time, in the words that tables and sentences use."""

import math
import time
from datetime import datetime

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_UNKNOWN = "?"


def moment(epoch_s: float) -> str:
    """A moment in local time, to the second; a question mark for one beyond the calendar."""
    return _local(epoch_s, "%Y-%m-%d %H:%M:%S")


def duration(seconds: float) -> str:
    """A span in its two largest units: 12.3 s, 5 min 3 s, 3 h 20 min, 2 d 4 h."""
    if not math.isfinite(seconds):
        return _UNKNOWN
    seconds = max(seconds, 0.0)
    return f"{seconds:.1f} s" if seconds < _MINUTE_S else " ".join(_two_units(int(seconds)))


def ago(epoch_s: float, now: float | None = None) -> str:
    """How long ago, in at most eleven characters: 12 s ago, 5 min ago, 3 h ago; older: the date.

    Args:
        epoch_s: seconds since the epoch; what lies ahead is 0 s ago.
        now: the moment of asking, if it is not this one.
    """
    past = max((time.time() if now is None else now) - epoch_s, 0.0)
    return f"{_two_units(int(past))[0]} ago" if past < _DAY_S else _local(epoch_s, "%Y-%m-%d")


def _two_units(seconds: int) -> tuple[str, str]:
    if seconds < _MINUTE_S:
        return f"{seconds} s", ""
    if seconds < _HOUR_S:
        return f"{seconds // _MINUTE_S} min", f"{seconds % _MINUTE_S} s"
    if seconds < _DAY_S:
        return f"{seconds // _HOUR_S} h", f"{seconds % _HOUR_S // _MINUTE_S} min"
    return f"{seconds // _DAY_S} d", f"{seconds % _DAY_S // _HOUR_S} h"


def _local(epoch_s: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(epoch_s).astimezone().strftime(form)
    except (ValueError, OverflowError, OSError):
        return _UNKNOWN
