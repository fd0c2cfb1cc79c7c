"""From JSON that a server sent to NamedTuples, with every value held against its annotation.

A server sends four times a second, and may have a thousand workers: how a form is read is worked
out once, and where something is wrong is told only when something is.
"""

import math
import types
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar, Union, cast, get_args, get_origin
from typing import get_type_hints as annotations_of

from plugrl.errors import PlugRLError

T = TypeVar("T")
_LARGEST = 2**63
"""Counts have 64 bits; what is larger was not counted, and can't be divided by, either."""

_Read: TypeAlias = Callable[[Any], Any]
"""Takes a value, returns it as it is to be kept."""


class FormError(PlugRLError):
    """A value that is not as its form says; says where, from the outside inwards."""

    def __init__(self, wrong: str, *path: str | int) -> None:
        """Tell what is ``wrong`` with the value at ``path``."""
        super().__init__(f"{wrong}, at ${''.join(map(_step, path))}")
        self.wrong, self.path = wrong, path

    def within(self, step: str | int) -> "FormError":
        """The same, seen from one further out."""
        return FormError(self.wrong, step, *self.path)


def read(form: type[T], data: Any, sent_as: Mapping[str, str]) -> T:
    """Make a ``form`` of ``data``; keys that are unknown here are skipped.

    Args:
        form: a NamedTuple of numbers, strings, mappings, tuples and other such forms.
        data: what ``json.loads`` returned.
        sent_as: fields whose key is not their name.

    Raises:
        FormError: a field is missing or of another type, or a number is not finite or too large.
    """
    made: T = _form(cast("Hashable", form), tuple(sent_as.items()))(data)
    return made


class _Field(NamedTuple):
    name: str
    key: str
    read: _Read


@cache
def _form(form: Any, sent_as: tuple[tuple[str, str], ...]) -> _Read:
    keys, hints = dict(sent_as), annotations_of(form)
    fields = [
        _Field(name, keys.get(name, name), _reader(hints[name], sent_as)) for name in form._fields
    ]
    needed = frozenset(field.key for field in fields if field.name not in form._field_defaults)

    def read_form(data: Any) -> Any:
        if not isinstance(data, dict):
            raise _refused("an object", data)
        values: dict[str, Any] = {}
        for name, key, read in fields:
            if key in data:
                try:
                    values[name] = read(data[key])
                except FormError as error:
                    raise error.within(key) from None
            elif key in needed:
                raise FormError(f"expected the field {key!r}, got none")
        return form(**values)

    return read_form


def _reader(kind: Any, sent_as: tuple[tuple[str, str], ...]) -> _Read:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _or_none(_reader(arguments[0], sent_as))
    if origin is tuple:
        return _list(_reader(arguments[0], sent_as))
    if origin is Mapping:
        return _mapping(_reader(arguments[1], sent_as))
    return _SIMPLE[kind] if kind in _SIMPLE else _form(kind, sent_as)


def _or_none(read: _Read) -> _Read:
    return lambda value: None if value is None else read(value)


def _list(read: _Read) -> _Read:
    def read_list(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _refused("a list", value)
        try:
            return tuple(map(read, value))
        except FormError:
            raise _first_wrong(read, value) from None

    return read_list


def _first_wrong(read: _Read, values: list[Any]) -> FormError:
    for place, value in enumerate(values):
        try:
            read(value)
        except FormError as error:
            return error.within(place)
    raise AssertionError("one of them was refused before")


def _mapping(read: _Read) -> _Read:
    def read_mapping(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _refused("an object", value)
        kept = {}
        for name, item in value.items():
            try:
                kept[name] = read(item)
            except FormError as error:
                raise error.within(name) from None
        return kept

    return read_mapping


def _number(value: Any) -> Any:
    kind = type(value)
    if (kind is float and math.isfinite(value)) or (kind is int and abs(value) < _LARGEST):
        return value
    raise _refused("a finite number", value)


def _count(value: Any) -> Any:
    if type(value) is int and abs(value) < _LARGEST:
        return value
    raise _refused("an integer of 64 bits", value)


def _text(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _refused("a string", value)


def _flag(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise _refused("true or false", value)


_SIMPLE: Mapping[Any, _Read] = {float: _number, int: _count, str: _text, bool: _flag}


def _step(step: str | int) -> str:
    # A metric's name, say, may hold anything.
    return f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r:.60}]"


def _refused(expected: str, value: Any) -> FormError:
    text = repr(value)
    return FormError(f"expected {expected}, got {text[:60]}{'…' if len(text) > 60 else ''}")
