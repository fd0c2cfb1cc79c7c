"""Fields of a decoded map, each checked for presence, type and length; errors name the path."""

from collections.abc import Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError
from plugrl.protocol.messages import Array

FieldMap: TypeAlias = dict[str, Any]


def field(fields: FieldMap, name: str, at: str) -> Any:
    """The value of a field that must be there.

    Raises:
        InvalidMessageError: it is missing from the map at path ``at``.
    """
    try:
        return fields[name]
    except KeyError:
        raise InvalidMessageError(f"expected a field, got none, at {at}.{name}") from None


def map_field(fields: FieldMap, name: str, at: str, *, keys: Set[str] | None = None) -> FieldMap:
    """A field that is a map, with exactly ``keys`` where they are given.

    Raises:
        InvalidMessageError: it isn't.
    """
    value = field(fields, name, at)
    if not isinstance(value, dict):
        raise InvalidMessageError(f"expected a map, got {type(value).__name__}, at {at}.{name}")
    if keys is not None and value.keys() != keys:
        raise InvalidMessageError(
            f"expected exactly the keys {sorted(keys)}, got {list(value)!r:.200}, at {at}.{name}"
        )
    return value


def array_field(fields: FieldMap, name: str, at: str, *, kinds: str) -> Array:
    """A field that is an array whose dtype kind is one of ``kinds``.

    Raises:
        InvalidMessageError: it isn't.
    """
    value = field(fields, name, at)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        raise InvalidMessageError(
            f"expected an array of kind {' or '.join(kinds)}, got {describe(value)}, at {at}.{name}"
        )
    return value


def index_array(
    fields: FieldMap, name: str, at: str, *, length: int | None = None, distinct: bool = True
) -> NDArray[np.int64]:
    """A field of integers >= 0, (length,) int64; distinct ones unless told otherwise.

    Raises:
        InvalidMessageError: it isn't.
    """
    array = array_field(fields, name, at, kinds="iu")
    _check_vector(array, length, name, at)
    indices: NDArray[np.int64] = array.astype(np.int64, copy=False)
    values = indices.tolist()
    if values and min(values) < 0:
        raise InvalidMessageError(f"expected integers >= 0, got {min(values)}, at {at}.{name}")
    if distinct and len(set(values)) != len(values):
        raise InvalidMessageError(f"expected distinct integers, got a repeat, at {at}.{name}")
    return indices


def flags(fields: FieldMap, name: str, at: str, length: int) -> NDArray[np.bool_]:
    """A field of booleans, (length,).

    Raises:
        InvalidMessageError: it isn't.
    """
    array = array_field(fields, name, at, kinds="b")
    _check_vector(array, length, name, at)
    return array


def rewards(fields: FieldMap, name: str, at: str, length: int) -> Array:
    """A field of finite floats, (length,).

    Raises:
        InvalidMessageError: it isn't.
    """
    array = array_field(fields, name, at, kinds="f")
    _check_vector(array, length, name, at)
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InvalidMessageError(
            f"expected finite floats, got {array[row]}, at {at}.{name}[{row}]"
        )
    return array


def describe(value: object) -> str:
    """What a value is, in words short enough for an error message."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name} of shape {value.shape}"
    return type(value).__name__


def _check_vector(array: Array, length: int | None, name: str, at: str) -> None:
    if array.ndim != 1 or (length is not None and len(array) != length):
        expected = "(n,)" if length is None else f"({length},)"
        raise InvalidMessageError(f"expected shape {expected}, got {array.shape}, at {at}.{name}")
