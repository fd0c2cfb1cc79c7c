"""Moments as people say them."""

import pytest

from plugrl_tui.core.moments import ago


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s ago"),
        (59, "59 s ago"),
        (61, "1 min ago"),
        (7300, "2 h ago"),
        (90_000, "2027-01-14"),
        (-5, "0 s ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    now = 1_800_000_000.0
    assert ago(now - seconds, now) == words


def test_no_moment_is_a_dash() -> None:
    assert ago(None) == "—"
