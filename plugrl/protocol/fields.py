"""Fields of a decoded map, each checked for presence, type and length; errors name the path."""

import reprlib
from collections.abc import Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError
from plugrl.protocol.messages import Array
from plugrl.protocol.numbers import LARGEST

FieldMap: TypeAlias = dict[str, Any]

_INT64 = np.dtype(np.int64)


def map_field(fields: FieldMap, name: str, at: str, *, keys: Set[str] | None = None) -> FieldMap:
    """A field that is a map, with exactly ``keys`` where they are given.

    Raises:
        InvalidMessageError: it isn't, or is missing from the map at path ``at``.
    """
    value = fields.get(name)
    if not isinstance(value, dict):
        raise InvalidMessageError(f"expected a map, got {_found(fields, name)}, at {at}.{name}")
    if keys is not None and value.keys() != keys:
        raise InvalidMessageError(
            f"expected the keys {sorted(keys)}, got {reprlib.repr([*value])}, at {at}.{name}"
        )
    return value


def array_field(fields: FieldMap, name: str, at: str, kinds: str) -> Array:
    """A field that is an array whose dtype kind is one of ``kinds``.

    Raises:
        InvalidMessageError: it isn't, or is missing from the map at path ``at``.
    """
    value = fields.get(name)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        raise InvalidMessageError(
            f"expected an array of kind {' or '.join(kinds)}, got {_found(fields, name)},"
            f" at {at}.{name}"
        )
    return value


def vector(fields: FieldMap, name: str, at: str, *, kinds: str, length: int) -> Array:
    """A field that is an array (length,) whose dtype kind is one of ``kinds``.

    Raises:
        InvalidMessageError: it isn't, or is missing from the map at path ``at``.
    """
    array = array_field(fields, name, at, kinds)
    if array.ndim != 1 or len(array) != length:
        raise InvalidMessageError(f"expected shape ({length},), got {array.shape}, at {at}.{name}")
    return array


def env_vector(fields: FieldMap, name: str, at: str) -> NDArray[np.int64]:
    """A field of distinct env indices, (n,) int64, at least 0.

    Raises:
        InvalidMessageError: it isn't, or is missing from the map at path ``at``.
    """
    array = array_field(fields, name, at, "iu")
    if array.ndim != 1:
        raise InvalidMessageError(f"expected shape (n,), got {array.shape}, at {at}.{name}")
    indices = as_int64(array)
    values = indices.tolist()
    if values and min(values) < 0:
        raise InvalidMessageError(f"expected integers >= 0, got {min(values)}, at {at}.{name}")
    if len(set(values)) != len(values):
        raise InvalidMessageError(
            f"expected distinct integers, got {reprlib.repr(values)}, at {at}.{name}"
        )
    return indices


def reward_vector(fields: FieldMap, name: str, at: str, length: int) -> Array:
    """A field of floats that are finite in float32, (length,).

    Raises:
        InvalidMessageError: it isn't, or is missing from the map at path ``at``.
    """
    array = vector(fields, name, at, kinds="f", length=length)
    refuse_not_finite(array, f"{at}.{name}")
    return array


def refuse_not_finite(array: Array, at: str) -> None:
    """Refuse NaN and what float32 can't hold, infinities first, in an array (n,) of floats.

    Float32 is what such numbers are by convention and what learners compute in: one that becomes
    an infinity there spoils the updates of everybody.

    Raises:
        InvalidMessageError: there is one.
    """
    for row, value in enumerate(array.tolist()):
        if not -LARGEST <= value <= LARGEST:  # true for NaN too
            raise InvalidMessageError(f"expected finite float32, got {value}, at {at}[{row}]")


def as_int64(array: Array) -> NDArray[np.int64]:
    """An integer array as int64, itself where it is that already."""
    return array if array.dtype is _INT64 else array.astype(np.int64)


def describe(value: object) -> str:
    """What a value is, in words short enough for an error message."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name} of shape {value.shape}"
    return type(value).__name__


def _found(fields: FieldMap, name: str) -> str:
    return describe(fields[name]) if name in fields else "nothing"
