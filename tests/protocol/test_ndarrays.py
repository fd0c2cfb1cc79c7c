"""Arrays and scalars: every legal dtype there and back, every contradiction refused."""

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plugrl.errors import CodecError
from plugrl.protocol import codec

TYPESTRS = ["|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"]


def _claim(**changes: Any) -> bytes:
    claim = {b"__ndarray__": True, b"data": bytes(8), b"dtype": "<f8", b"shape": [1]}
    claim |= {key.encode(): value for key, value in changes.items()}
    return bytes(msgpack.packb({k: v for k, v in claim.items() if v is not ...}))


@given(
    st.sampled_from([*TYPESTRS, ">f8", ">i4", ">u2"]).flatmap(
        lambda typestr: hnp.arrays(typestr, hnp.array_shapes(min_dims=0, min_side=0, max_dims=5))
    )
)
def test_numeric_arrays_come_back_bit_for_bit(array: np.ndarray[Any, Any]) -> None:
    back = codec.unpack(codec.pack(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert not back.flags.writeable


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), min_size=1))
def test_text_arrays_come_back(texts: list[str]) -> None:
    array = np.array(texts)
    for sent in (array, array.astype(array.dtype.newbyteorder(">"))):
        assert codec.unpack(codec.pack(sent)).tolist() == array.tolist()


def test_arrays_that_are_not_in_c_order_are_sent_in_c_order() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    for view in (array.T, array[:, ::2], array[::-1], np.asfortranarray(array)):
        np.testing.assert_array_equal(codec.unpack(codec.pack(view)), view)


@pytest.mark.parametrize("shape", [[0], [3], [2, 0], [2, 2]])
def test_text_without_room_for_a_character_is_all_empty(shape: list[int]) -> None:
    array = codec.unpack(_claim(dtype="<U0", data=b"", shape=shape))
    np.testing.assert_array_equal(array, np.full(shape, ""))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"data": bytes(7)}, "8 bytes"),
        ({"data": bytes(9)}, "8 bytes"),
        ({"data": ...}, "data"),
        ({"dtype": ...}, "dtype"),
        ({"shape": ...}, "shape"),
        ({"data": "text"}, "bin"),
        ({"data": [0] * 8}, "bin"),
        ({"data": None}, "bin"),
        ({"__ndarray__": False}, "four keys"),
        ({"__ndarray__": 1}, "four keys"),
        ({"extra": 1}, "four keys"),
        ({"dtype": b"<f8"}, "typestr"),
        ({"dtype": None}, "typestr"),
        ({"shape": 1}, "list"),
        ({"shape": {}}, "list"),
        ({"shape": [-1]}, "ints >= 0"),
        ({"shape": [-1, -1]}, "ints >= 0"),
        ({"shape": [True]}, "ints >= 0"),
        ({"shape": [1.0]}, "ints >= 0"),
        ({"shape": ["1"]}, "ints >= 0"),
        ({"shape": [None]}, "ints >= 0"),
        ({"shape": [[1]]}, "integers"),
        ({"shape": [2**63, 2]}, "bytes"),
        ({"shape": [2**62, 0], "data": b""}, "NumPy"),
        ({"shape": [1] * 65}, "64 dimensions"),
    ],
)
def test_a_claim_that_contradicts_itself_is_refused(changes: dict[str, Any], fault: str) -> None:
    codec.unpack(_claim())
    with pytest.raises(CodecError, match=fault):
        codec.unpack(_claim(**changes))


@pytest.mark.parametrize(
    "typestr",
    [
        "|V8",
        "|O8",
        "|O",
        "<c8",
        "<c16",
        "|S8",
        "<M8[s]",
        "<m8",
        "<f16",
        "<f3",
        "<i16",
        "f8",
        "=f8",
        "|f8",
        "float64",
        "<f08",
        "<f8 ",
        "<f8\n",
        "",
        "<U-1",
        "|U2",
        "<U999999999",
        "(2,)<f4",
        "<f4,<f4",
    ],
)
def test_a_dtype_that_the_wire_does_not_carry_is_refused(typestr: str) -> None:
    with pytest.raises(CodecError, match="dtype"):
        codec.unpack(_claim(dtype=typestr))


@pytest.mark.parametrize("code_point", [0xD800, 0xDFFF, 0x110000, 0xFFFFFFFF])
@pytest.mark.parametrize("order", ["little", "big"])
def test_text_outside_unicode_is_refused(code_point: int, order: Any) -> None:
    data = code_point.to_bytes(4, order)
    with pytest.raises(CodecError, match="code points"):
        codec.unpack(_claim(dtype={"little": "<U1", "big": ">U1"}[order], data=data))


@pytest.mark.parametrize("num_bytes", [4, 2**19])
def test_any_byte_but_zero_is_true(num_bytes: int) -> None:
    data = b"\x00\x01\x02\xff" * (num_bytes // 4)
    array = codec.unpack(_claim(dtype="|b1", data=data, shape=[num_bytes]))
    assert array.tobytes() == b"\x00\x01\x01\x01" * (num_bytes // 4)
    assert not array.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(1, dtype=np.complex128),
        np.array([None]),
        np.zeros(1, dtype="V4"),
        np.zeros(1, dtype="S4"),
        np.zeros(1, dtype="M8[s]"),
        np.zeros(1, dtype=[("a", "f4")]),
        np.zeros(1, dtype=np.longdouble),
        np.array(["\ud800"]),
    ],
)
def test_an_array_that_the_wire_does_not_carry_is_refused(array: np.ndarray[Any, Any]) -> None:
    with pytest.raises(CodecError):
        codec.pack(array)


@pytest.mark.parametrize("typestr", TYPESTRS)
def test_scalars_come_back_with_their_dtype(typestr: str) -> None:
    scalar = np.ones((), dtype=typestr)[()]
    back = codec.unpack(codec.pack(scalar))
    assert back == scalar
    # np.float64 is a Python float, and travels as one.
    assert isinstance(back, type(scalar) if typestr != "<f8" else float)


def test_a_float_too_large_for_its_dtype_is_infinite() -> None:
    claim = {b"__npgeneric__": True, b"data": 1e300, b"dtype": "<f4"}
    assert codec.unpack(msgpack.packb(claim)) == np.inf


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ({b"data": 1}, "dtype"),
        ({b"dtype": "<i8"}, "data"),
        ({b"data": 300, b"dtype": "|u1"}, "fits"),
        ({b"data": -1, b"dtype": "<u8"}, "fits"),
        ({b"data": 1.5, b"dtype": "<i8"}, "number"),
        ({b"data": True, b"dtype": "<i8"}, "number"),
        ({b"data": 1, b"dtype": "|b1"}, "number"),
        ({b"data": "1", b"dtype": "<f8"}, "number"),
        ({b"data": "a", b"dtype": "<U1"}, "number"),
        ({b"data": None, b"dtype": "<f8"}, "number"),
        ({b"data": 1, b"dtype": "<c8"}, "dtype"),
        ({b"data": 1, b"dtype": 8}, "typestr"),
        ({b"data": 1, b"dtype": "<i8", b"x": 0}, "three keys"),
        ({b"data": 1, b"dtype": "<i8", b"__npgeneric__": False}, "three keys"),
    ],
)
def test_a_scalar_that_contradicts_itself_is_refused(claim: dict[Any, Any], fault: str) -> None:
    with pytest.raises(CodecError, match=fault):
        codec.unpack(msgpack.packb({b"__npgeneric__": True} | claim))
