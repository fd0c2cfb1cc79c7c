"""Frames that no peer should send: only ``ProtocolError`` comes out, and memory stays flat."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugrl.errors import CodecError, ProtocolError
from plugrl.protocol import codec, cutting, wire
from plugrl.protocol.forms import Decoder
from plugrl.protocol.messages import REUSE_FEEDBACK_OBS, Metadata
from plugrl.protocol.session import ClientSession, ServerSession
from tests.fuzz.frames import SEEDS, mutated_frames, observe

pytestmark = pytest.mark.fuzz


def _servers() -> tuple[ServerSession, ServerSession]:
    """One to which an infer is due, with rows to reuse; one to which a feedback is due."""
    waiting_for_infer, waiting_for_feedback = (
        ServerSession(Metadata({"features": [REUSE_FEEDBACK_OBS]}), max_envs=64) for _ in range(2)
    )
    for session in (waiting_for_infer, waiting_for_feedback):
        session.greet()
        session.receive(SEEDS[1])
        session.act(np.zeros((1, 2, 3)))
    waiting_for_infer.receive(SEEDS[6])
    return waiting_for_infer, waiting_for_feedback


def _clients() -> tuple[ClientSession, ClientSession]:
    """One to which metadata is due, one to which an action is due."""
    waiting_for_action = ClientSession()
    waiting_for_action.receive(SEEDS[0])
    waiting_for_action.infer(observe(2), np.arange(2), np.arange(2))
    return ClientSession(), waiting_for_action


def _survive(frame: bytes) -> int:
    """Give a frame to every kind of session; returns how many took it."""
    taken = 0
    for session in (*_servers(), *_clients()):
        try:
            session.receive(frame)
        except ProtocolError:
            continue
        else:
            taken += 1
    return taken


def test_mutated_messages_only_ever_raise_a_protocol_error() -> None:
    assert 0 < sum(_survive(frame) for frame in mutated_frames(2_000, seed=1)) < 8_000


def _outcome(decode: Callable[[bytes], Any], frame: bytes) -> str:
    try:
        return repr(decode(frame))
    except ProtocolError as error:
        return str(error)


def test_a_connection_that_knows_many_forms_decodes_as_a_fresh_one() -> None:
    decoder = Decoder()
    for frame in mutated_frames(3_000, seed=5):
        assert _outcome(decoder.decode, frame) == _outcome(wire.decode, frame)
        decoder.decode(SEEDS[len(frame) % len(SEEDS)])


def test_frames_are_decoded_alike_with_and_without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [*mutated_frames(2_000, seed=4), *SEEDS]
    with_copies = [_outcome(codec.unpack, frame) for frame in frames]
    monkeypatch.setattr(codec, "MIN_CUT_BYTES", 0)
    # Longer than the keys of an array, which would be cut out too.
    for min_bin_bytes in (12, 16, 24):
        monkeypatch.setattr(cutting, "MIN_BIN_BYTES", min_bin_bytes)
        assert all(cutting.cut_large_binaries(memoryview(frame)) for frame in SEEDS[1:3])
        assert [_outcome(codec.unpack, frame) for frame in frames] == with_copies


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes_only_ever_raise_a_protocol_error(data: bytes) -> None:
    _survive(data)


JSON_LIKE = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])) | st.binary(), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=200)
@given(JSON_LIKE)
def test_any_plain_value_is_packed_as_msgpack_packs_it(value: Any) -> None:
    frame = codec.pack(value)
    assert frame == msgpack.packb(value)
    try:
        decoded = codec.unpack(frame)
    except CodecError:
        assert b"__ndarray__" in frame or b"__npgeneric__" in frame
    else:
        assert msgpack.packb(decoded) == frame


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_hundred_thousand_frames_raise_only_protocol_errors_and_keep_no_memory() -> None:
    def run(count: int, seed: int) -> None:
        for frame in mutated_frames(count, seed):
            _survive(frame)

    run(90_000, seed=2)
    tracemalloc.start()
    run(10_000, seed=3)
    gc.collect()
    growth, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert growth < 2**20
