"""Messages as no peer should send them, for fuzzing sessions and servers."""

import copy
import random
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np

from plugrl.protocol import wire
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Action,
    Feedback,
    Infer,
    Message,
    Metadata,
    Observation,
)


def mutated_frames(count: int, seed: int) -> Iterator[bytes]:
    """``count`` messages with bytes or structure changed; some are legal still."""
    rng = random.Random(seed)
    for _ in range(count):
        mutate = rng.choice([_mutate_bytes, _mutate_structure, _mutate_structure])
        yield mutate(rng.choice(SEEDS), rng)


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


def observe(n: int) -> Observation:
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
        Infer(observe(2), envs, envs),
        Infer(observe(1), envs, envs, np.array([False, True])),
        Infer(observe(0), envs, envs, np.array([True, True])),
        Action(envs, np.zeros((2, 2, 3), dtype=np.float32)),
        Feedback(envs, envs, observe(2), np.zeros(2, dtype=np.float32), flags, flags, episode),
        Feedback(envs, envs, observe(2), np.zeros(2, dtype=np.float32), ~flags, ~flags),
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
