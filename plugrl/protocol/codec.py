"""Values to bytes and back: msgpack, with NumPy arrays and scalars as maps of fixed bin keys.

Nothing that arrives is trusted: every claim is checked before memory is touched, and whatever is
wrong with the bytes comes out as ``CodecError``.
"""

import reprlib
from typing import Any

import msgpack
import numpy as np

from plugrl.errors import CodecError
from plugrl.protocol import ndarrays

MAX_CONTAINER_LEN = 2**20
"""Entries of one list or map; more are refused, before a list is allocated for them."""


def pack(value: Any) -> bytes:
    """Encode dicts, lists, tuples, str, bytes, numbers, None, arrays and NumPy scalars.

    Raises:
        CodecError: a type or dtype that the wire does not carry.
    """
    try:
        return bytes(msgpack.packb(value, default=_encode_extra))
    except (TypeError, ValueError, OverflowError) as error:
        raise CodecError(f"expected a value that the wire carries, got one where {error}") from None


def unpack(data: bytes | bytearray | memoryview) -> Any:
    """Decode one value; arrays are read-only views.

    Raises:
        CodecError: ``data`` is not exactly one legal value.
    """
    max_len = min(len(data), MAX_CONTAINER_LEN)
    try:
        return msgpack.unpackb(
            data,
            object_pairs_hook=_decode_map,
            ext_hook=_refuse_extension,
            max_array_len=max_len,
            max_map_len=max_len,
            # msgpack would otherwise make timestamps without asking ext_hook.
            max_ext_len=0,
        )
    except (ValueError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise CodecError(f"expected one msgpack value, got {len(data)} bytes: {reason}") from None


def _encode_extra(value: Any) -> dict[bytes, Any]:
    if isinstance(value, np.ndarray):
        return ndarrays.array_to_map(value)
    if isinstance(value, np.generic):
        return ndarrays.scalar_to_map(value)
    raise TypeError(f"{type(value).__name__} has no encoding")


def _decode_map(pairs: list[tuple[Any, Any]]) -> Any:
    if len(pairs) == 4 and pairs[0][0] == ndarrays.ARRAY_KEY and pairs[0][1] is True:
        _, (key_1, data), (key_2, typestr), (key_3, shape) = pairs
        if key_1 == b"data" and key_2 == b"dtype" and key_3 == b"shape":
            return ndarrays.array_view(data, typestr, shape)
    decoded = dict(pairs)
    if len(decoded) != len(pairs):
        raise CodecError(f"expected distinct keys, got {reprlib.repr([key for key, _ in pairs])}")
    if ndarrays.ARRAY_KEY in decoded:
        return ndarrays.array_from_map(decoded)
    if ndarrays.SCALAR_KEY in decoded:
        return ndarrays.scalar_from_map(decoded)
    return decoded


def _refuse_extension(code: int, data: bytes) -> Any:
    raise CodecError(f"expected no extension types, got type {code}")
