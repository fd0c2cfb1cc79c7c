"""Help texts out of docstrings: without markup, and in one flow whatever their line breaks."""

from functools import cache

import docstring_parser


def plain(text: str) -> str:
    """A docstring as a terminal shows it."""
    return " ".join(text.replace("``", "").split())


@cache
def field_help(cls: type) -> dict[str, str]:
    """What the docstrings say of each field of a dataclass, inherited ones included.

    It is read from the source file, which takes longer than to parse a command line.
    """
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        for attribute in docstring_parser.parse_from_object(base).params:
            texts[attribute.arg_name] = plain(attribute.description or "")
    return texts
