"""Signs, and what they become in seven bits."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from plugrl_tui.core import glyphs


@given(st.text(st.characters(exclude_categories=["C", "M"]), max_size=30))
def test_ascii_is_ascii_and_exactly_as_wide(text):
    plain = glyphs.ascii_only(text)
    assert plain.isascii()
    assert len(plain) >= len(text)


def test_every_sign_of_ours_stays_one_column_wide():
    signs = [sign for name, sign in vars(glyphs).items() if name.isupper() and name[0] != "_"]
    for sign in "".join(sign for sign in signs if isinstance(sign, str)):
        assert cell_len(sign) == 1
        assert len(glyphs.ascii_only(sign)) == 1
        assert glyphs.ascii_only(sign) not in {"?", " "}


def test_a_sparkline_goes_from_nothing_to_the_highest():
    assert glyphs.sparkline([0, 1, 2, 4], 10) == "▁▃▅█"
    assert glyphs.sparkline([5, 0, 4], 2) == "▁█"
    assert glyphs.sparkline([0, 0], 5) == "▁▁"
    assert glyphs.sparkline([], 5) == ""


def test_a_bar_shows_whatever_is_more_than_nothing():
    assert [len(glyphs.bar(share, 10)) for share in (0, 0.001, 0.5, 1, 7)] == [0, 1, 5, 10, 10]


def test_more_dots_become_heavier_signs():
    assert glyphs.ascii_only("⠀⠁⠃⠇⡇⣿") == " .:-=@"
