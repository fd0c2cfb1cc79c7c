"""Frames that no peer should send: only ``ProtocolError`` comes out, and memory stays flat."""

import copy
import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugrl.errors import CodecError, ProtocolError
from plugrl.protocol import codec, cutting, wire
from plugrl.protocol.forms import Decoder
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Action,
    Feedback,
    Infer,
    Message,
    Metadata,
    Observation,
)
from plugrl.protocol.session import ClientSession, ServerSession

pytestmark = pytest.mark.fuzz

LEAVES: list[Any] = [
    None,
    True,
    -1,
    2**63,
    2**64 - 1,
    float("nan"),
    "",
    "\x00",
    b"",
    [],
    {},
    [[]],
    {"message_type": "infer"},
    {b"__ndarray__": True},
    {b"__npgeneric__": True, b"data": 1, b"dtype": "<f4"},
    {b"__ndarray__": True, b"data": b"", b"dtype": "<U0", b"shape": [2**40]},
    {b"__ndarray__": True, b"data": b"", b"dtype": "<f8", b"shape": [2**40, 0]},
    "a" * 70_000,
    ["a" * 60_000] + [""] * 9,
    msgpack.ExtType(5, b"x"),
    *(
        {b"__ndarray__": True, b"data": bytes(8), b"dtype": dtype, b"shape": shape}
        for dtype in ("<f8", "<i8", "|b1", "|u1", "<U2", ">U2", "|O8", "<c8", "|V8", "<M8[s]")
        for shape in ([], [1], [8], [1, 8], [8, 1, 1, 1], [0], [2**32, 2**32], [-1])
    ),
]


def _obs(n: int) -> Observation:
    return Observation(
        {"cam": np.zeros((n, 2, 2, 3), dtype=np.uint8)},
        {"s": np.zeros((n, 3))},
        np.array(["go"] * n, dtype=np.str_),
    )


def _seeds() -> list[bytes]:
    envs = np.arange(2)
    flags = np.array([True, False])
    episode = {"episode": {"r": np.zeros(2), "l": envs, "s": flags, "mask": flags}, "x": 1}
    messages: list[Message] = [
        Metadata({"features": [REUSE_FEEDBACK_OBS], "action_dim": 3}),
        Infer(_obs(2), envs, envs),
        Infer(_obs(1), envs, envs, np.array([False, True])),
        Infer(_obs(0), envs, envs, np.array([True, True])),
        Action(envs, np.zeros((2, 2, 3), dtype=np.float32)),
        Feedback(envs, envs, _obs(2), np.zeros(2, dtype=np.float32), flags, flags, episode),
        Feedback(envs, envs, _obs(2), np.zeros(2, dtype=np.float32), ~flags, ~flags),
    ]
    return [wire.encode(message) for message in messages]


SEEDS = _seeds()


def _mutate_bytes(frame: bytes, rng: random.Random) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                data[at] ^= 1 << rng.randrange(8)
            case 2:
                del data[at : at + rng.randint(1, 8)]
            case 3:
                data[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                other = rng.choice(SEEDS)
                data[at:] = other[rng.randrange(len(other)) :]
        if not data:
            break
    return bytes(data)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a tree of maps and lists, as a container and a key."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in list(entries):
        yield value, key
        if isinstance(entry, dict | list):
            yield from _places(entry)


def _mutate_structure(frame: bytes, rng: random.Random) -> bytes:
    tree = msgpack.unpackb(frame)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(tree))
        if not places:
            break
        container, key = rng.choice(places)
        match rng.randrange(4):
            case 0:
                del container[key]
            case 1 if isinstance(container, dict):
                container[rng.choice(["data", "obs", b"data", "x", "é"])] = container.pop(key)
            case 2:
                other, other_key = rng.choice(places)
                if other_key in other if isinstance(other, dict) else other_key < len(other):
                    container[key] = copy.deepcopy(other[other_key])
            case _:
                container[key] = copy.deepcopy(rng.choice(LEAVES))
    return bytes(msgpack.packb(tree))


def _frames(count: int, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    for _ in range(count):
        mutate = rng.choice([_mutate_bytes, _mutate_structure, _mutate_structure])
        yield mutate(rng.choice(SEEDS), rng)


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
    waiting_for_action.infer(_obs(2), np.arange(2), np.arange(2))
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
    assert 0 < sum(_survive(frame) for frame in _frames(2_000, seed=1)) < 8_000


def _outcome(decode: Callable[[bytes], Any], frame: bytes) -> str:
    try:
        return repr(decode(frame))
    except ProtocolError as error:
        return str(error)


def test_a_connection_that_knows_many_forms_decodes_as_a_fresh_one() -> None:
    decoder = Decoder()
    for frame in _frames(3_000, seed=5):
        assert _outcome(decoder.decode, frame) == _outcome(wire.decode, frame)
        decoder.decode(SEEDS[len(frame) % len(SEEDS)])


def test_frames_are_decoded_alike_with_and_without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [*_frames(2_000, seed=4), *SEEDS]
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
        for frame in _frames(count, seed):
            _survive(frame)

    run(90_000, seed=2)
    tracemalloc.start()
    run(10_000, seed=3)
    gc.collect()
    growth, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert growth < 2**20
