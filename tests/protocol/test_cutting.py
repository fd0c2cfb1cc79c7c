"""Large frames are decoded without copies, and otherwise exactly as small ones are."""

from typing import Any

import msgpack
import numpy as np
import pytest

from plugrl.errors import CodecError
from plugrl.protocol import codec, cutting

LARGE = bytes(codec.MIN_CUT_BYTES)


def _array_frame(array: np.ndarray[Any, Any], padding: int) -> bytes:
    """``array`` in a frame, its data moved by some bytes."""
    return codec.pack({"padding": "x" * padding, "array": array})


def test_a_large_array_is_a_read_only_view_of_the_frame() -> None:
    image = np.arange(2**20, dtype=np.uint32).view(np.uint8).reshape(1, 1024, 1024, 4)
    frame = codec.pack({"image": image, "small": np.arange(3)})
    decoded = codec.unpack(frame)
    np.testing.assert_array_equal(decoded["image"], image)
    assert decoded["small"].tolist() == [0, 1, 2]
    assert np.shares_memory(decoded["image"], np.frombuffer(frame, np.uint8))


def test_an_array_in_a_bytearray_is_read_only_too() -> None:
    frame = bytearray(codec.pack(np.zeros(2**20)))
    assert not codec.unpack(frame).flags.writeable


@pytest.mark.parametrize("padding", range(8))
def test_numbers_are_aligned_wherever_they_lie_in_the_frame(padding: int) -> None:
    array = np.arange(2**17, dtype=np.float64)
    decoded = codec.unpack(_array_frame(array, padding))["array"]
    assert decoded.flags.aligned
    assert not decoded.flags.writeable
    np.testing.assert_array_equal(decoded, array)


@pytest.mark.parametrize(
    "value", [LARGE, [LARGE, 1], {"a": LARGE}, {"a": [{"b": LARGE}]}, {LARGE: 1}, [{"a": [LARGE]}]]
)
def test_large_binaries_that_are_no_array_are_bytes(value: Any) -> None:
    assert codec.unpack(msgpack.packb(value)) == value


@pytest.mark.parametrize("extension", ["d60100000000", "c70005", "d6ff00000001", "c800010100"])
def test_extensions_in_a_large_frame_are_refused(extension: str) -> None:
    frame = b"\x92" + msgpack.packb(LARGE) + bytes.fromhex(extension)
    with pytest.raises(CodecError, match="ext"):
        codec.unpack(frame)


@pytest.mark.parametrize("cut_at", [1, 3, 10, 100, len(LARGE) - 1])
def test_a_truncated_large_frame_is_refused(cut_at: int) -> None:
    frame = codec.pack({"a": np.frombuffer(LARGE, np.uint8), "b": LARGE})
    for broken in (frame[:-cut_at], frame + b"\xc0" * cut_at):
        with pytest.raises(CodecError, match=f"got {len(broken)} bytes"):
            codec.unpack(broken)


def test_a_frame_of_many_tokens_is_not_walked_over_to_its_end() -> None:
    frame = msgpack.packb([LARGE, *range(cutting.MAX_TOKENS)])
    assert cutting.cut_large_binaries(memoryview(frame)) is None
    assert len(codec.unpack(frame)) == cutting.MAX_TOKENS + 1


def test_a_frame_without_large_binaries_is_not_cut() -> None:
    frame = msgpack.packb(["x" * codec.MIN_CUT_BYTES, b"small"])
    assert cutting.cut_large_binaries(memoryview(frame)) is None
    assert codec.unpack(frame)[1] == b"small"


@pytest.mark.parametrize(
    "value",
    [
        *(
            0,
            127,
            128,
            2**8,
            2**16,
            2**32,
            2**64 - 1,
            -1,
            -33,
            -(2**7),
            -(2**15),
            -(2**31),
            -(2**63),
        ),
        *(None, True, False, 1.5, "x" * 31, "x" * 32, "x" * 300, "x" * 70_000, b"", b"x" * 300),
        *([0] * 15, [0] * 16, [0] * 1000, {}, {str(i): i for i in range(100)}, [[], [[]]]),
        *(b"x" * 70_000, {"a": [b"x" * 70_000, "y", b"z" * 70_000]}),
    ],
)
def test_every_kind_of_token_is_walked_over(value: Any) -> None:
    frame = msgpack.packb([value, LARGE, value])
    assert cutting.cut_large_binaries(memoryview(frame)) is not None
    assert codec.unpack(frame) == [value, LARGE, value]


def test_single_floats_are_walked_over() -> None:
    frame = b"\x92" + msgpack.packb(1.5, use_single_float=True) + msgpack.packb(LARGE)
    assert cutting.cut_large_binaries(memoryview(frame)) is not None
    assert codec.unpack(frame)[0] == 1.5
