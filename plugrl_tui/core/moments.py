"""Moments as people say them."""

import time
from datetime import datetime

from plugrl_tui.core.format import MISSING

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def ago(moment: float | None, now: float | None = None) -> str:
    """How long ago, in at most eleven characters: 12 s ago, 5 min ago, 3 h ago; older: the date.

    Args:
        moment: seconds since the epoch; None is a dash.
        now: the moment of asking, if it is not this one.
    """
    if moment is None:
        return MISSING
    past = max((time.time() if now is None else now) - moment, 0)
    if past < _MINUTE:
        return f"{past:.0f} s ago"
    if past < _HOUR:
        return f"{past / _MINUTE:.0f} min ago"
    if past < _DAY:
        return f"{past / _HOUR:.0f} h ago"
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d")
