"""A config's fields as a person sees them: what they are, and text to value and back."""

import json
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from plugrl.cli.help_text import field_help

NONE_WORDS = ("none", "None")
HELP_ATTRIBUTE = "__field_help__"
"""Of a class that has no source to read helps from: by field."""
_TRUE, _FALSE = "true", "false"
_SHOWN_CHARS = 80
"""Of what was typed, or pasted, in an error."""


class Kind(Enum):
    """What a field takes; the value is the word that people read."""

    BOOL = "true or false"
    INT = "whole number"
    FLOAT = "number"
    TEXT = "text"
    PATH = "path"
    CHOICE = "choice"
    NUMBERS = "whole numbers"
    JSON = "JSON object"


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldSpec:
    """One field of one config."""

    path: tuple[str, ...]
    """Names from the config down to the field; more than one where configs are nested."""
    kind: Kind
    default: Any
    """The chosen variant's value."""
    help: str
    choices: tuple[str, ...] = ()
    optional: bool = False
    """Whether it may be none."""

    @property
    def name(self) -> str:
        """Dotted, as the field table shows it."""
        return ".".join(self.path)

    @property
    def flag(self) -> str:
        """As on the command line, without dashes and prefix."""
        return self.name.replace("_", "-")

    @property
    def type_words(self) -> str:
        """Its type in words, such as ``number or none``."""
        words = " | ".join(self.choices) if self.kind is Kind.CHOICE else self.kind.value
        return f"{words} or none" if self.optional else words

    def parse(self, text: str) -> Any:
        """The value that ``text`` means on the command line.

        Raises:
            ValueError: it means none; says what was expected.
        """
        if self.optional and text in NONE_WORDS:
            return None
        try:
            return _PARSERS[self.kind](text, self)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected {self.type_words}, got {text!r:.{_SHOWN_CHARS}}") from error

    def show(self, value: Any) -> str:
        """The text that ``parse`` takes back to ``value``."""
        if value is None:
            return NONE_WORDS[0]
        if self.kind is Kind.BOOL:
            return _TRUE if value else _FALSE
        if self.kind is Kind.NUMBERS:
            return " ".join(map(str, value))
        return json.dumps(value) if self.kind is Kind.JSON else str(value)


def specs(config: Any) -> list[FieldSpec]:
    """The fields of a config with its values as defaults, nested ones in their place."""
    return list(_walk(config, ()))


def replaced(config: Any, values: dict[tuple[str, ...], Any]) -> Any:
    """``config`` with other values, made anew and so checked.

    Args:
        config: a frozen dataclass.
        values: by the field's path.

    Raises:
        ConfigError: a value is out of its range.
    """
    changes = {}
    for item in fields(config):
        value = getattr(config, item.name)
        if is_dataclass(value):
            below = {p[1:]: v for p, v in values.items() if len(p) > 1 and p[0] == item.name}
            changes[item.name] = replaced(value, below) if below else value
        else:
            changes[item.name] = values.get((item.name,), value)
    return type(config)(**changes)


def _walk(config: Any, above: tuple[str, ...]) -> Iterator[FieldSpec]:
    cls: Any = type(config)
    kinds, texts = _kinds(cls), _help(cls)
    for item in fields(config):
        value = getattr(config, item.name)
        path = (*above, item.name)
        if is_dataclass(value):
            yield from _walk(value, path)
            continue
        kind, choices, optional = kinds[item.name]
        yield FieldSpec(
            path=path,
            kind=kind,
            default=value,
            help=texts.get(item.name, ""),
            choices=choices,
            optional=optional,
        )


@cache
def _kinds(cls: type[object]) -> dict[str, tuple[Kind, tuple[str, ...], bool]]:
    return {name: _classify(hint) for name, hint in get_type_hints(cls).items()}


def _help(cls: type) -> dict[str, str]:
    told: dict[str, str] | None = getattr(cls, HELP_ATTRIBUTE, None)
    return field_help(cls) if told is None else told


def _classify(hint: Any) -> tuple[Kind, tuple[str, ...], bool]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        kind, choices, _ = _classify(inner[0])
        return kind, choices, len(inner) < len(arguments)
    if origin is Literal:
        return Kind.CHOICE, tuple(map(str, arguments)), False
    if origin is tuple:
        return Kind.NUMBERS, (), False
    if origin is dict:
        return Kind.JSON, (), False
    return _SIMPLE.get(hint, Kind.TEXT), (), False


def _bool(text: str, _: FieldSpec) -> bool:
    if text.lower() not in (_TRUE, _FALSE):
        raise ValueError(text)
    return text.lower() == _TRUE


def _int(text: str, _: FieldSpec) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def _choice(text: str, spec: FieldSpec) -> str:
    if text not in spec.choices:
        raise ValueError(text)
    return text


def _numbers(text: str, spec: FieldSpec) -> tuple[int, ...]:
    return tuple(_int(word, spec) for word in text.split())


def _json(text: str, _: FieldSpec) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value


_SIMPLE = {bool: Kind.BOOL, int: Kind.INT, float: Kind.FLOAT, str: Kind.TEXT, Path: Kind.PATH}

_PARSERS: dict[Kind, Callable[[str, FieldSpec], Any]] = {
    Kind.BOOL: _bool,
    Kind.INT: _int,
    Kind.FLOAT: lambda text, _: float(text),
    Kind.TEXT: lambda text, _: text,
    Kind.PATH: lambda text, _: Path(text),
    Kind.CHOICE: _choice,
    Kind.NUMBERS: _numbers,
    Kind.JSON: _json,
}
