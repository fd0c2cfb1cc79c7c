"""The lane beside websockets' own parser, over any stream of frames in any pieces."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, OPEN, SERVER, Protocol

from plugrl.framing import Cut, Lane, binary_frame

MAX_BYTES = 2**17
TAILS = [b"", b"", b"\x82", b"\x82\xff", b"\x83\x85", b"\x89\x7e\x01\x00"]
PAYLOADS = st.binary(max_size=300)


def library(*, from_client: bool) -> Protocol:
    side = SERVER if from_client else CLIENT
    return Protocol(side, state=OPEN, max_size=MAX_BYTES)


def seen(events: Sequence[object]) -> list[tuple[Opcode, bool, bytes]]:
    return [(e.opcode, e.fin, bytes(e.data)) for e in events if isinstance(e, Frame)]


def through_library(pieces: list[bytes], *, from_client: bool) -> tuple[object, object, object]:
    protocol = library(from_client=from_client)
    for piece in pieces:
        protocol.receive_data(piece)
    return seen(protocol.events_received()), protocol.state, repr(protocol.parser_exc)


def through_lane(pieces: list[bytes], *, from_client: bool) -> tuple[object, object, object]:
    protocol, lane = library(from_client=from_client), Lane(from_client=from_client)
    events: list[tuple[Opcode, bool, bytes]] = []
    for piece in pieces:
        for cut in lane.cut(piece, MAX_BYTES):
            if not cut.is_message:
                protocol.receive_data(cut.data)
                events += seen(protocol.events_received())
            elif protocol.state is OPEN:
                events.append((Opcode.BINARY, True, cut.data))
    return events, protocol.state, repr(protocol.parser_exc)


@st.composite
def frames(draw: st.DrawFn, *, from_client: bool) -> bytes:
    """Legal and illegal ones; binary messages most often."""
    opcode = draw(st.sampled_from([*Opcode, *[Opcode.BINARY] * 5]))
    fin = draw(st.sampled_from([True, True, True, False]))
    masked = draw(st.sampled_from([*[from_client] * 9, not from_client]))
    frame = bytearray(Frame(Opcode.BINARY, draw(PAYLOADS)).serialize(mask=masked))
    reserved = draw(st.sampled_from([*[0] * 12, 0x40, 0x10]))
    frame[0] = (0x80 if fin else 0) | opcode | reserved
    return bytes(frame)


@st.composite
def streams(draw: st.DrawFn, *, from_client: bool) -> list[bytes]:
    """Frames, or bytes that are none, in pieces that end anywhere."""
    stream = b"".join(draw(st.lists(frames(from_client=from_client), max_size=8)))
    stream += draw(st.sampled_from(TAILS))
    ends = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    return [stream[i:j] for i, j in itertools.pairwise([0, *ends, len(stream)]) if i < j]


@given(streams(from_client=True))
def test_what_a_client_sends_is_taken_as_the_library_takes_it(pieces: list[bytes]) -> None:
    assert through_lane(pieces, from_client=True) == through_library(pieces, from_client=True)


@given(streams(from_client=False))
def test_what_a_server_sends_is_taken_as_the_library_takes_it(pieces: list[bytes]) -> None:
    assert through_lane(pieces, from_client=False) == through_library(pieces, from_client=False)


@pytest.mark.parametrize("from_client", [True, False])
@pytest.mark.parametrize("length", [0, 1, 125, 126, 2**16 - 1, 2**16, 2**16 + 1])
def test_a_frame_made_here_is_one_that_the_library_reads(length: int, from_client: bool) -> None:
    message = bytes(i % 251 for i in range(length))
    frame = binary_frame(message, from_client=from_client)
    protocol = library(from_client=from_client)
    protocol.receive_data(frame)
    assert seen(protocol.events_received()) == [(Opcode.BINARY, True, message)]
    if not from_client:
        assert frame == Frame(Opcode.BINARY, message).serialize(mask=False)


@pytest.mark.parametrize("from_client", [True, False])
def test_a_message_is_whole_when_its_last_byte_comes(from_client: bool) -> None:
    lane, message = Lane(from_client=from_client), bytes(70_000)
    frame = binary_frame(message, from_client=from_client)
    for start in range(0, len(frame) - 1, 999):
        assert lane.cut(frame[start : min(start + 999, len(frame) - 1)], MAX_BYTES) == []
    assert lane.cut(frame[-1:], MAX_BYTES) == [Cut(is_message=True, data=message)]


def test_masks_are_not_used_twice() -> None:
    keys = {binary_frame(b"", from_client=True)[-4:] for _ in range(100)}
    assert len(keys) == 100


def test_a_frame_beyond_the_limit_is_refused_by_its_header_alone() -> None:
    lane, protocol = Lane(from_client=True), library(from_client=True)
    header = binary_frame(bytes(MAX_BYTES + 1), from_client=True)[:14]
    (cut,) = lane.cut(header, MAX_BYTES)
    assert not cut.is_message
    protocol.receive_data(cut.data)
    assert "PayloadTooBig" in repr(protocol.parser_exc)


@pytest.mark.parametrize("first", [0x88, 0x89, 0x8A, 0x09])
def test_a_huge_control_frame_is_refused_by_its_first_two_bytes(first: int) -> None:
    lane, protocol = Lane(from_client=True), library(from_client=True)
    (cut,) = lane.cut(bytes([first, 0xFF]), MAX_BYTES)
    assert not cut.is_message
    protocol.receive_data(cut.data)
    assert "ProtocolError" in repr(protocol.parser_exc)
