"""Help texts out of docstrings: without markup, and in one flow whatever their line breaks."""

import docstring_parser


def plain(text: str) -> str:
    """A docstring as a terminal shows it."""
    return " ".join(text.replace("``", "").split())


def field_help(cls: type) -> dict[str, str]:
    """What the docstrings say of each field of a dataclass, inherited ones included."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        for attribute in docstring_parser.parse_from_object(base).params:
            texts[attribute.arg_name] = plain(attribute.description or "")
    return texts
