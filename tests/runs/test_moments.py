import math

import pytest

from plugrl.runs.moments import ago, duration, moment

NOW = 1_800_000_000.0
BEYOND = [math.inf, -math.inf, math.nan, 1e308, -1e308, 1e17]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (12.34, "12.3 s"),
        (60, "1 min 0 s"),
        (303.9, "5 min 3 s"),
        (3600, "1 h 0 min"),
        (12_059, "3 h 20 min"),
        (86_400, "1 d 0 h"),
        (190_000, "2 d 4 h"),
        (-5, "0.0 s"),
        (math.nan, "?"),
        (math.inf, "?"),
    ],
)
def test_a_span_has_its_two_largest_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s ago"),
        (59.9, "59 s ago"),
        (61, "1 min ago"),
        (7300, "2 h ago"),
        (86_399, "23 h ago"),
        (90_000, "2027-01-14"),
        (-5, "0 s ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(NOW - seconds, NOW) == words
    assert len(words) <= 11


def test_a_moment_is_told_to_the_second() -> None:
    assert moment(NOW).startswith("2027-01-1")
    assert len(moment(NOW)) == len("2027-01-15 08:00:00")


@pytest.mark.parametrize("epoch_s", BEYOND)
def test_a_moment_beyond_the_calendar_ends_nothing(epoch_s: float) -> None:
    assert moment(epoch_s) == "?"
    assert ago(epoch_s, NOW) in {"?", "0 s ago"}
