"""NumPy arrays and scalars as the maps that stand for them on the wire."""

import functools
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import CodecError

ARRAY_KEY = b"__ndarray__"
SCALAR_KEY = b"__npgeneric__"

_TYPESTR = re.compile(r"([<>|])([buifU])(0|[1-9][0-9]{0,8})")
_ITEM_SIZES = {"b": {1}, "u": {1, 2, 4, 8}, "i": {1, 2, 4, 8}, "f": {2, 4, 8}}
_ENCODINGS = {"<": "utf-32-le", ">": "utf-32-be"}


def array_to_map(array: NDArray[Any]) -> dict[bytes, Any]:
    """The map that stands for ``array``; its data is borrowed where it lies in C order.

    Raises:
        CodecError: the dtype is not one that the wire carries.
    """
    typestr = array.dtype.str
    wire_dtype(typestr)
    data = array.data if array.flags.c_contiguous else array.tobytes()
    if array.dtype.kind == "U":
        _check_code_points(typestr, data)
    return {ARRAY_KEY: True, b"data": data, b"dtype": typestr, b"shape": array.shape}


def array_from_map(claim: dict[Any, Any]) -> NDArray[Any]:
    """The read-only array that ``claim`` describes, a view of its data.

    Raises:
        CodecError: the claim contradicts itself.
    """
    try:
        data, typestr, shape = claim[b"data"], claim[b"dtype"], claim[b"shape"]
    except KeyError as error:
        raise CodecError(f"expected an array with the key {error}, got {list(claim)!r}") from None
    if len(claim) != 4 or claim[ARRAY_KEY] is not True:
        raise CodecError(f"expected the four keys of an array, got {list(claim)!r}")
    dtype = wire_dtype(typestr)
    size = _size(shape)
    if not isinstance(data, bytes | memoryview) or len(data) != size * dtype.itemsize:
        raise CodecError(
            f"expected {size * dtype.itemsize} bytes for {typestr} {shape!r}, got {_extent(data)}"
        )
    if dtype.kind == "U":
        _check_code_points(typestr, data)
    return _view(shape, dtype, data)


def scalar_to_map(scalar: np.generic) -> dict[bytes, Any]:
    """The map that stands for a NumPy scalar.

    Raises:
        CodecError: the dtype is not one that the wire carries.
    """
    typestr = scalar.dtype.str
    wire_dtype(typestr)
    return {SCALAR_KEY: True, b"data": scalar.item(), b"dtype": typestr}


def scalar_from_map(claim: dict[Any, Any]) -> np.generic:
    """The NumPy scalar that ``claim`` describes.

    Raises:
        CodecError: the claim contradicts itself, or the number does not fit the dtype.
    """
    try:
        data, typestr = claim[b"data"], claim[b"dtype"]
    except KeyError as error:
        raise CodecError(f"expected a scalar with the key {error}, got {list(claim)!r}") from None
    if len(claim) != 3 or claim[SCALAR_KEY] is not True:
        raise CodecError(f"expected the three keys of a scalar, got {list(claim)!r}")
    dtype = wire_dtype(typestr)
    if type(data) not in _SCALAR_TYPES.get(dtype.kind, ()):
        raise CodecError(f"expected a plain number for {typestr}, got {type(data).__name__}")
    try:
        with np.errstate(over="ignore"):
            scalar: np.generic = dtype.type(data)
    except OverflowError as error:
        raise CodecError(f"expected a number that fits {typestr}, got {data!r}") from error
    return scalar


_SCALAR_TYPES: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "u": (int,),
    "i": (int,),
    "f": (float, int),
}


def wire_dtype(typestr: object) -> np.dtype[Any]:
    """The dtype of a NumPy typestr, if the wire carries it.

    Raises:
        CodecError: it does not.
    """
    if not isinstance(typestr, str):
        raise CodecError(f"expected a dtype of type str, got {type(typestr).__name__}")
    return _parse_typestr(typestr)


@functools.lru_cache(maxsize=256)
def _parse_typestr(typestr: str) -> np.dtype[Any]:
    match = _TYPESTR.fullmatch(typestr)
    if match is None:
        raise CodecError(f"expected a dtype of kind b, u, i, f or U, got {typestr[:40]!r}")
    order, kind, size = match[1], match[2], int(match[3])
    if kind == "U":
        legal = order != "|"
    else:
        legal = size in _ITEM_SIZES[kind] and (order != "|" or size == 1)
    if not legal:
        raise CodecError(f"expected a dtype that all machines share, got {typestr!r}")
    return np.dtype(typestr)


def _size(shape: object) -> int:
    if not isinstance(shape, list):
        raise CodecError(f"expected a shape of type list, got {type(shape).__name__}")
    for dimension in shape:
        if type(dimension) is not int or dimension < 0:
            raise CodecError(f"expected dimensions that are ints >= 0, got {dimension!r:.40}")
    return math.prod(shape)


def _view(shape: list[int], dtype: np.dtype[Any], data: bytes | memoryview) -> NDArray[Any]:
    try:
        if dtype.itemsize == 0:
            return np.broadcast_to(np.array(""), shape)
        return np.ndarray(shape, dtype, data)
    except ValueError as error:
        raise CodecError(f"expected a shape that NumPy can hold, got {error}") from None


def _check_code_points(typestr: str, data: bytes | memoryview) -> None:
    try:
        str(data, _ENCODINGS[typestr[0]])
    except UnicodeDecodeError as error:
        raise CodecError(f"expected Unicode code points in {typestr}, got {error}") from None


def _extent(data: object) -> str:
    return f"{len(data)}" if isinstance(data, bytes) else type(data).__name__
