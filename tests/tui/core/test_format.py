"""Numbers for eyes."""

import math

import pytest

from plugrl_tui.core import format as fmt


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (812, "812"),
        (5120, "5.12k"),
        (412_000, "412k"),
        (999_950, "1M"),
        (1e6, "1M"),
        (0.5, "0.5"),
        (-2048, "-2.05k"),
        (None, "—"),
        (math.nan, "—"),
        (3.2e13, "32T"),
    ],
)
def test_counts_are_short(number, text):
    assert fmt.count(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.021, ".0210"),
        (-0.0149, "-.0149"),
        (2143.4, "2143"),
        (3.1e-5, "3.1e-05"),
        (0, "0"),
        (12.34, "12.3"),
        (1.234, "1.23"),
        (1e7, "1.0e+07"),
        (math.inf, "—"),
        (None, "—"),
    ],
)
def test_measured_numbers_have_three_digits_that_mean_something(number, text):
    assert fmt.value(number) == text
    assert len(text) <= 7


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (18.2, "18.2 s"),
        (42, "42 s"),
        (247, "4:07"),
        (4360, "1:12:40"),
        (273_600, "3d 04:00"),
        (-1, "—"),
        (None, "—"),
    ],
)
def test_durations_use_the_units_that_matter(seconds, text):
    assert fmt.duration(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.0005, "<0.1%"), (0.012, "1.2%"), (0.41, "41%"), (1.0, "100%"), (None, "—")],
)
def test_small_shares_keep_a_digit(share, text):
    assert fmt.percent(share) == text


@pytest.mark.parametrize("width", range(40))
def test_a_fitted_text_is_never_wider_and_says_that_it_was_cut(width):
    text = "the server has said nothing for a minute"
    fitted = fmt.fitted(text, width)
    assert len(fitted) <= width
    if 1 < width < len(text):
        assert fitted.endswith("…")


def test_a_text_is_cut_between_words():
    assert fmt.fitted("finish what is in progress", 20) == "finish what is in…"


def test_a_wrapped_text_has_whole_words_where_they_fit_and_at_least_one_line():
    assert fmt.wrapped("--a-flag=1 of a command", 10) == ["--a-flag=1", "of a", "command"]
    assert fmt.wrapped("/a/path/without/blanks", 10) == ["/a/path/", "without/", "blanks"]
    assert fmt.wrapped("6 frames/s", 8) == ["6", "frames/s"]
    assert fmt.wrapped("unbroken", 5) == ["unbro", "ken"]
    assert fmt.wrapped("", 10) == [""]


@pytest.mark.parametrize("time", [1e308, -1e308, 1e17, -1e17])
def test_a_time_beyond_the_calendar_is_a_dash_as_wide_as_any(time):
    assert fmt.clock(time) == "—           "
    assert len(fmt.clock(0.0)) == 12


def test_sizes_and_waits_are_short():
    assert [fmt.size(n) for n in (512, 140_269, None)] == ["512 B", "137.0 KiB", "—"]
    assert [fmt.millis(s) for s in (0.002, 0.019, 1.54, None)] == ["2.0", "19", "1540", "—"]
