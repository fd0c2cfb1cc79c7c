"""NumPy arrays and scalars as the maps that stand for them on the wire.

This runs several times a message, so what depends on dtype and shape alone is computed once.
"""

import codecs
import functools
import math
import re
import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import CodecError

ARRAY_KEY = b"__ndarray__"
SCALAR_KEY = b"__npgeneric__"

BOOLS = b"\0\1"
"""The only bytes that NumPy promises to read right as bools."""
MAX_RANK = 64
"""Dimensions of one array; as many as NumPy has room for."""

_TYPESTR = re.compile(r"([<>|])([buifU])(0|[1-9][0-9]{0,7})")
_ITEM_SIZES = {"b": {1}, "u": {1, 2, 4, 8}, "i": {1, 2, 4, 8}, "f": {2, 4, 8}}
_SCALAR_TYPES: dict[str, set[type]] = {"b": {bool}, "u": {int}, "i": {int}, "f": {int, float}}
_UTF32_DECODERS: dict[str, Callable[..., Any]] = {
    "<": codecs.utf_32_le_decode,
    ">": codecs.utf_32_be_decode,
}


def array_to_map(array: NDArray[Any]) -> dict[bytes, Any]:
    """The map that stands for ``array``; its data is borrowed where it lies in C order.

    Raises:
        CodecError: the dtype is not one that the wire carries, or text holds surrogates.
    """
    typestr = _typestr(array.dtype)
    data: bytes | memoryview = array.data if array.flags.c_contiguous else array.tobytes()
    if typestr[1] == "U":
        _check_code_points(typestr, data)
    return {ARRAY_KEY: True, b"data": data, b"dtype": typestr, b"shape": array.shape}


def array_from_map(claim: dict[Any, Any]) -> NDArray[Any]:
    """The read-only array that ``claim`` describes.

    Raises:
        CodecError: the claim contradicts itself.
    """
    try:
        data, typestr, shape = claim[b"data"], claim[b"dtype"], claim[b"shape"]
    except KeyError as error:
        raise CodecError(f"expected an array with {error}, got {reprlib.repr([*claim])}") from None
    if len(claim) != 4 or claim[ARRAY_KEY] is not True:
        raise CodecError(f"expected the four keys of an array, got {reprlib.repr([*claim])}")
    return array_view(data, typestr, shape)


def array_view(data: Any, typestr: Any, shape: Any) -> NDArray[Any]:
    """The read-only array of a typestr and a list of dimensions, a view of ``data``.

    Raises:
        CodecError: one of the three is not of the right type, or they contradict each other.
    """
    if type(typestr) is not str or type(shape) is not list:
        raise CodecError(f"expected a typestr and a list, got {reprlib.repr((typestr, shape))}")
    if len(shape) > MAX_RANK:
        raise CodecError(f"expected at most {MAX_RANK} dimensions, got {len(shape)}")
    try:
        layout = _layout(typestr, *shape)
    except TypeError:
        raise CodecError(f"expected integers in a shape, got {reprlib.repr(shape)}") from None
    if type(data) is not bytes and type(data) is not memoryview:
        raise CodecError(f"expected data of type bin, got {type(data).__name__}")
    if len(data) != layout.num_bytes:
        raise CodecError(
            f"expected {layout.num_bytes} bytes for {typestr} {shape!r}, got {len(data)}"
        )
    if typestr[1] == "U":
        _check_code_points(typestr, data)
    if typestr[1] == "b" and not are_bools(data):
        data = (np.frombuffer(data, np.uint8) != 0).tobytes()
    try:
        if not layout.dtype.itemsize:
            return np.broadcast_to(np.array(""), layout.shape)
        return np.ndarray(layout.shape, layout.dtype, data)
    except ValueError as error:
        raise CodecError(f"expected a shape that NumPy can hold, got one where {error}") from None


def are_bools(data: bytes | memoryview) -> bool:
    """Whether all bytes are bools."""
    # Whatever else is in there, stripping stops at it.
    return not bytes(data).strip(BOOLS)


def scalar_to_map(scalar: np.generic) -> dict[bytes, Any]:
    """The map that stands for a NumPy scalar.

    Raises:
        CodecError: the dtype is not one that the wire carries.
    """
    return {SCALAR_KEY: True, b"data": scalar.item(), b"dtype": _typestr(scalar.dtype)}


def scalar_from_map(claim: dict[Any, Any]) -> np.generic:
    """The NumPy scalar that ``claim`` describes.

    Raises:
        CodecError: the claim contradicts itself, or the number does not fit the dtype.
    """
    try:
        data, typestr = claim[b"data"], claim[b"dtype"]
    except KeyError as error:
        raise CodecError(f"expected a scalar with {error}, got {reprlib.repr([*claim])}") from None
    if len(claim) != 3 or claim[SCALAR_KEY] is not True:
        raise CodecError(f"expected the three keys of a scalar, got {reprlib.repr([*claim])}")
    if type(typestr) is not str:
        raise CodecError(f"expected a typestr, got {type(typestr).__name__}")
    dtype = _dtype(typestr)
    if type(data) not in _SCALAR_TYPES.get(dtype.kind, set()):
        raise CodecError(f"expected a number of kind {dtype.kind}, got {type(data).__name__}")
    try:
        with np.errstate(over="ignore"):
            scalar: np.generic = dtype.type(data)
    except OverflowError:
        raise CodecError(f"expected a number that fits {typestr}, got {data!r}") from None
    return scalar


class _Layout(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    num_bytes: int


# typed: True and 1.0 are equal to 1, and would pass for it in the cache.
@functools.lru_cache(maxsize=1024, typed=True)
def _layout(typestr: str, *shape: Any) -> _Layout:
    dtype = _dtype(typestr)
    if any(type(dimension) is not int or dimension < 0 for dimension in shape):
        raise CodecError(f"expected dimensions that are ints >= 0, got {reprlib.repr(shape)}")
    return _Layout(dtype, shape, math.prod(shape) * dtype.itemsize)


@functools.lru_cache(maxsize=256)
def _dtype(typestr: str) -> np.dtype[Any]:
    match = _TYPESTR.fullmatch(typestr)
    if match is None:
        raise CodecError(f"expected a dtype of kind b, u, i, f or U, got {reprlib.repr(typestr)}")
    order, kind, size = match[1], match[2], int(match[3])
    legal = order != "|" if kind == "U" else size in _ITEM_SIZES[kind]
    if not legal or (order == "|" and size > 1):
        raise CodecError(f"expected a dtype that every machine has, got {typestr!r}")
    return np.dtype(typestr)


@functools.lru_cache(maxsize=256)
def _typestr(dtype: np.dtype[Any]) -> str:
    _dtype(dtype.str)
    return dtype.str


def _check_code_points(typestr: str, data: bytes | memoryview) -> None:
    try:
        _UTF32_DECODERS[typestr[0]](data, "strict", True)  # noqa: FBT003 - positional in C
    except UnicodeDecodeError as error:
        raise CodecError(f"expected Unicode code points in {typestr}, got {error}") from None
