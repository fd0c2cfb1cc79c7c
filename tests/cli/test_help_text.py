from dataclasses import dataclass

from plugrl.cli.help_text import field_help, plain


@dataclass
class Base:
    """Base."""

    first: int = 0
    """The first, which wants
    two ``lines``."""
    second: int = 0
    """Of the base."""


@dataclass
class Derived(Base):
    """Derived."""

    second: int = 1
    """Of the ``derived``
    (in its own words)."""
    third: int = 2


def test_a_docstring_loses_its_markup_and_its_line_breaks():
    assert plain("Takes ``--env``\n    and more.\n") == "Takes --env and more."


def test_fields_are_described_by_the_nearest_class():
    assert field_help(Derived) == {
        "first": "The first, which wants two lines.",
        "second": "Of the derived (in its own words).",
    }
