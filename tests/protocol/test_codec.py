"""The codec: what it carries, what it refuses, and what it never does to memory."""

import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest

from plugrl.errors import CodecError
from plugrl.protocol import codec


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        2**64 - 1,
        1.5,
        "é",
        b"\x00\xff",
        [1, [2, {"a": []}]],
        {"a": {b"b": None}},
        {},
    ],
)
def test_plain_values_come_back(value: Any) -> None:
    assert codec.unpack(codec.pack(value)) == value


def test_tuples_come_back_as_lists() -> None:
    assert codec.unpack(codec.pack((1, 2))) == [1, 2]


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_any_buffer_is_decoded(view: Any) -> None:
    assert codec.unpack(view(codec.pack({"a": 1}))) == {"a": 1}


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        ("", "incomplete"),
        ("81a161", "incomplete"),
        ("c0c0", "extra"),
        ("c1", "FormatError"),
        ("dd00000005", "incomplete"),
        ("ddffffffff", "exceeds"),
        ("dfffffffff", "exceeds"),
        ("c6ffffffff00", "incomplete"),
        ("dbffffffff00", "incomplete"),
        ("8101c0", "map key"),
        ("81c0c0", "map key"),
        ("8190c0", "map key"),
        ("8180c0", "map key"),
        ("a1ff", "utf-8"),
        ("a3eda080", "utf-8"),
        ("82a161c0a161c0", "distinct keys"),
        ("d6ff00000001", "ext"),
        ("d40500", "ext"),
        ("c70005", "extension types"),
        ("c700ff", "timestamp"),
        ("91" * 2000 + "90", "StackError"),
        ("81a161" * 2000 + "c0", "StackError"),
        ("91" * 2000, "StackError"),
    ],
)
def test_malformed_bytes_are_a_codec_error(frame: str, fault: str) -> None:
    with pytest.raises(CodecError, match=f"(?i){fault}"):
        codec.unpack(bytes.fromhex(frame))


def test_a_container_beyond_the_limit_is_refused() -> None:
    frame = b"\xdd" + (codec.MAX_CONTAINER_LEN + 1).to_bytes(4, "big")
    with pytest.raises(CodecError, match="exceeds"):
        codec.unpack(frame + b"\xc0" * (codec.MAX_CONTAINER_LEN + 1))


def _list_of(num: int, entries: bytes) -> bytes:
    return b"\xdd" + num.to_bytes(4, "big") + entries


@pytest.mark.many_examples
@pytest.mark.parametrize("inner", [b"\x80", b"\x90", b"\x81\xa0\x80", b"\x00"], ids=bytes.hex)
@pytest.mark.parametrize("arrays", [b"", b"\xc6\x00\x04\x00\x00" + bytes(2**18)], ids=len)
def test_no_frame_makes_more_values_than_are_cheap(inner: bytes, arrays: bytes) -> None:
    num = 2**19
    lists = _list_of(64, _list_of(num, inner * num) * 64)
    frame = b"\x92" + lists + (arrays or b"\xc0")
    tracemalloc.start()
    try:
        with pytest.raises(CodecError, match="values in all"):
            codec.unpack(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**27 + len(frame)


def test_many_values_are_taken_as_long_as_they_are_cheap() -> None:
    value = [list(range(2**16))] * 16 + [{"a": [""]}] * 2**14
    assert codec.unpack(codec.pack(value)) == value


def test_an_array_in_any_order_of_keys_is_decoded() -> None:
    pieces = {b"shape": [2], b"dtype": "<f4", b"data": bytes(8), b"__ndarray__": True}
    assert codec.unpack(msgpack.packb(pieces)).tolist() == [0.0, 0.0]


def test_duplicate_keys_of_an_array_are_refused() -> None:
    frame = codec.pack(np.zeros(1))
    broken = b"\x85" + frame[1:] + msgpack.packb(b"dtype") + msgpack.packb("<f4")
    with pytest.raises(CodecError, match="distinct keys"):
        codec.unpack(broken)


@pytest.mark.parametrize("value", [object(), 2**64, {1, 2}, "\ud800", 1j, np.complex64(1)])
def test_what_the_wire_does_not_carry_is_refused_when_packing(value: Any) -> None:
    with pytest.raises(CodecError):
        codec.pack({"a": [value]})


def test_a_deep_value_is_refused_when_packing() -> None:
    value: list[Any] = []
    for _ in range(2000):
        value = [value]
    with pytest.raises(CodecError):
        codec.pack(value)


def test_claims_of_huge_arrays_take_no_memory() -> None:
    frames = [
        msgpack.packb({b"__ndarray__": True, b"data": b"", b"dtype": dtype, b"shape": shape})
        for dtype in ("<f8", "<U99999999", "<U0")
        for shape in ([2**33], [2**20, 2**20], [0, 2**62], [2**63], [1] * 65, [1] * 1000)
    ]
    tracemalloc.start()
    for frame in frames:
        try:
            codec.unpack(frame)
        except CodecError:
            continue
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
