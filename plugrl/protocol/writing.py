"""Frames joined from pieces that are packed once: byte for byte what ``codec.pack`` makes.

Packing the map that stands for an array costs several times as much as copying its data, and
all of that map but the data depends on dtype and shape alone.
"""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import msgpack
import numpy as np

from plugrl.errors import CodecError
from plugrl.protocol import codec, ndarrays
from plugrl.protocol.messages import Array, Observation

Pieces: TypeAlias = list[Any]
"""Objects with a contiguous buffer, to be joined."""

# msgpack's bin 8, bin 16 and bin 32: how many bytes hold the length, and what stands before it.
_BIN_HEADERS = ((1, b"\xc4"), (2, b"\xc5"), (4, b"\xc6"))


def add_array(pieces: Pieces, array: Array) -> None:
    """Append the encoding of ``array``.

    Raises:
        CodecError: the wire does not carry its dtype, or its text holds surrogates.
    """
    if array.dtype.kind == "U":
        pieces.append(_text(array.dtype, array.shape, array.tobytes()))
        return
    frame = _frame(array.dtype, array.shape)
    pieces += (
        frame.head,
        array if array.flags.c_contiguous else np.ascontiguousarray(array),
        frame.tail,
    )


def add_observation(pieces: Pieces, obs: Observation) -> None:
    """Append the encoding of ``obs``.

    Raises:
        CodecError: it holds what the wire does not carry.
    """
    pieces += (map_header(3), text("images"))
    _add_arrays(pieces, obs.images)
    pieces.append(text("states"))
    _add_arrays(pieces, obs.states)
    pieces.append(text("text"))
    add_array(pieces, obs.text)


@functools.lru_cache(maxsize=1024)
def text(value: str) -> bytes:
    """The encoding of a str."""
    return codec.pack(value)


@functools.lru_cache(maxsize=1024)
def map_header(length: int) -> bytes:
    """How a map of so many entries begins."""
    return bytes(msgpack.Packer().pack_map_header(length))


def _add_arrays(pieces: Pieces, arrays: Mapping[str, Array]) -> None:
    pieces.append(map_header(len(arrays)))
    for name, array in arrays.items():
        pieces.append(text(name))
        add_array(pieces, array)


class _Frame(NamedTuple):
    head: bytes
    """What stands before an array's data."""
    tail: bytes
    """What stands behind it."""


@functools.lru_cache(maxsize=1024)
def _frame(dtype: np.dtype[Any], shape: tuple[int, ...]) -> _Frame:
    empty = ndarrays.array_to_map(np.empty(0, dtype))
    packed = codec.pack({**empty, b"data": b"", b"shape": shape})
    head, tail = packed.split(b"\xc4\x00", 1)
    return _Frame(head + _bin_header(dtype.itemsize * int(np.prod(shape))), tail)


@functools.lru_cache(maxsize=64)
def _text(dtype: np.dtype[np.str_], shape: tuple[int, ...], data: bytes) -> bytes:
    return codec.pack(np.ndarray(shape, dtype, data))


def _bin_header(length: int) -> bytes:
    for width, code in _BIN_HEADERS:
        if length < 256**width:
            return code + length.to_bytes(width, "big")
    raise CodecError(f"expected arrays of less than {256**4} bytes, got {length}")
