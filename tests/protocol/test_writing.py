"""Frames joined from pieces are byte for byte what the codec makes of the whole."""

from typing import Any

import numpy as np
import pytest

from plugrl.errors import CodecError
from plugrl.protocol import codec
from plugrl.protocol.messages import Observation
from plugrl.protocol.writing import Pieces, add_array, add_observation, map_header, text


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0),
        np.zeros(()),
        np.zeros((0, 3), dtype=np.float32),
        np.arange(24).reshape(2, 3, 4).T,
        np.arange(6)[::2],
        np.zeros(255, dtype=np.uint8),
        np.zeros(256, dtype=np.uint8),
        np.zeros(65_535, dtype=np.uint8),
        np.zeros(65_536, dtype=np.uint8),
        np.zeros((1,) * 20),
        np.arange(3, dtype=">i4"),
        np.array([True, False]),
        np.array(["a", "é"]),
        np.array([["a", "b"], ["c", "d"]]).T,
        np.array(["a"], dtype=">U2"),
        np.array([], dtype=np.str_),
    ],
)
def test_an_array_is_written_as_the_codec_packs_it(array: np.ndarray[Any, Any]) -> None:
    for _ in range(2):
        pieces: Pieces = []
        add_array(pieces, array)
        assert b"".join(pieces) == codec.pack(array)


@pytest.mark.parametrize(
    "array", [np.zeros(1, dtype=complex), np.array([None]), np.array(["\ud800"]), np.zeros(1, "S2")]
)
def test_an_array_that_the_wire_does_not_carry_is_refused(array: np.ndarray[Any, Any]) -> None:
    with pytest.raises(CodecError):
        add_array([], array)


@pytest.mark.parametrize("num_images", [0, 1, 15, 16])
def test_an_observation_is_written_as_the_codec_packs_it(num_images: int) -> None:
    images = {f"cam {i}": np.zeros((1, 2, 2, 3), dtype=np.uint8) for i in range(num_images)}
    obs = Observation(images, {"s": np.zeros((1, 2))}, np.array(["go"]))
    pieces: Pieces = []
    add_observation(pieces, obs)
    whole = {"images": obs.images, "states": obs.states, "text": obs.text}
    assert b"".join(pieces) == codec.pack(whole)


@pytest.mark.parametrize("length", [0, 15, 16, 65_535, 65_536])
def test_strings_and_map_headers_are_those_of_msgpack(length: int) -> None:
    assert text("x" * length) == codec.pack("x" * length)
    entries = {str(i): None for i in range(length)}
    assert codec.pack(entries).startswith(map_header(length))
