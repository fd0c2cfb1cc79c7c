"""Values to bytes and back: msgpack, with NumPy arrays and scalars as maps of fixed bin keys.

Nothing that arrives is trusted: every claim is checked before memory is touched, and whatever is
wrong with the bytes comes out as ``CodecError``.
"""

import contextlib
import reprlib
from collections.abc import Callable
from typing import Any, TypeAlias

import msgpack
import numpy as np

from plugrl.errors import CodecError
from plugrl.protocol import ndarrays
from plugrl.protocol.cutting import PLACEHOLDER_EXT_LEN, Cut, cut_large_binaries

MAX_CONTAINER_LEN = 2**20
"""Entries of one list or map; more are refused, before a list is allocated for them."""
MAX_COST = 2**21
"""Values in one message, lists and maps dearer than others: a few megabytes of small ones would
hold the event loop up for seconds, and take some gigabytes."""
CONTAINER_COST = 16
"""What a list or a map costs beside its entries: so much longer does it take to make."""
MIN_CUT_BYTES = 2**18
"""Frames from this size on are decoded without copying their large arrays."""


Hook: TypeAlias = Callable[[list[Any]], Any]
"""Makes a value of the entries of a list, or of the pairs of a map."""


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
    """Decode one value; arrays are read-only, and views of ``data`` where it is large.

    Raises:
        CodecError: ``data`` is not exactly one legal value.
    """
    if len(data) >= MIN_CUT_BYTES:
        cut = cut_large_binaries(memoryview(data).toreadonly())
        if cut is not None:
            # What this refuses is decoded once more below, for an error about the whole frame.
            with contextlib.suppress(CodecError):
                return _unpack_cut(cut)
    # msgpack would make timestamps without asking ext_hook, were it not for max_ext_len.
    return _unpack(data, _decode_map, None, ext_hook=_refuse_extension, max_ext_len=0)


def _unpack(
    data: bytes | bytearray | memoryview, map_hook: Hook, list_hook: Hook | None, **options: Any
) -> Any:
    max_len = min(len(data), MAX_CONTAINER_LEN)
    if len(data) * (1 + CONTAINER_COST) > MAX_COST:
        # A smaller message can't cost too much.
        budget = _Budget()
        map_hook = budget.charging(map_hook)
        list_hook = budget.charging(list_hook or _as_it_is)
    try:
        return msgpack.unpackb(
            data,
            object_pairs_hook=map_hook,
            list_hook=list_hook,
            max_array_len=max_len,
            max_map_len=max_len,
            **options,
        )
    except (ValueError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise CodecError(f"expected one msgpack value, got {len(data)} bytes: {reason}") from None


def _unpack_cut(cut: Cut) -> Any:
    value = _unpack(
        cut.skeleton,
        _decode_map_of_views,
        lambda entries: [_owned(entry) for entry in entries],
        ext_hook=lambda _, index: cut.binaries[int.from_bytes(index, "big")],
        max_ext_len=PLACEHOLDER_EXT_LEN,
    )
    return _owned(value)


class _Budget:
    """What the rest of a message may cost."""

    def __init__(self) -> None:
        self._left = MAX_COST

    def charging(self, hook: Hook) -> Hook:
        """``hook``, whose container is paid for first."""

        def charge(entries: list[Any]) -> Any:
            self._left -= CONTAINER_COST + len(entries)
            if self._left < 0:
                raise CodecError(
                    f"expected at most {MAX_COST} values in all, lists and maps counted for "
                    f"{CONTAINER_COST} more, got more"
                )
            return hook(entries)

        return charge


def _as_it_is(entries: list[Any]) -> Any:
    return entries


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


def _decode_map_of_views(pairs: list[tuple[Any, Any]]) -> Any:
    value = _decode_map(pairs)
    if isinstance(value, dict):
        return {key: _owned(entry) for key, entry in value.items()}
    # NumPy and torch are slow or fail on numbers that straddle their alignment.
    if isinstance(value, np.ndarray) and not value.flags.aligned:
        return _decode_map([(key, _owned(entry)) for key, entry in pairs])
    return value


def _owned(value: Any) -> Any:
    """Bytes in place of a view, which only arrays keep."""
    return bytes(value) if isinstance(value, memoryview) else value


def _refuse_extension(code: int, data: bytes) -> Any:
    raise CodecError(f"expected no extension types, got type {code}")
