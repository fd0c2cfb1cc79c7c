"""Frames that look like earlier ones: compared and cut instead of parsed.

The frames of a connection differ from each other in little more than the numbers in some arrays.
A ``Form`` is all the rest of a frame that was once parsed and checked in full. A frame of the same
length with the same bytes outside those arrays parses to the same tree with other numbers:
comparing costs a fifth of parsing, and the arrays are views of the frame itself.

Whatever is checked by its value (env indices, text) belongs to the form. Only arrays whose
numbers need no check, or one that ``_refill`` makes again, may differ.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import msgpack
import numpy as np
from numpy.typing import NDArray

from plugrl.protocol import wire
from plugrl.protocol.fields import as_int64, refuse_not_finite
from plugrl.protocol.messages import Action, Array, Feedback, Infer, Info, Message, Observation
from plugrl.protocol.ndarrays import are_bools

MAX_FORMS = 64
"""Forms that one connection may have us remember; the oldest goes first."""
MAX_FORM_BYTES = 2**16
"""Largest form; frames of larger ones are parsed anew each time."""

Path: TypeAlias = tuple[str, ...]
Arrays: TypeAlias = Mapping[Path, Array]

# How msgpack begins the map that stands for an array: four entries, the first key of type bin.
_ARRAY_START = b"\x84\xc4\x0b__ndarray__"
_FREE_KINDS = "buif"
_REUSE: Path = ("reuse",)
_DEEPEST_MAP = 3
"""Keys on the way to the deepest map that holds arrays: data, obs, states."""


class Slot(NamedTuple):
    """An array of a frame whose numbers may differ."""

    path: Path
    start: int
    """Where its data begins in the frame."""
    stop: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A checked frame without what is in its slots."""

    fixed: tuple[tuple[int, int, bytes], ...]
    """Start, stop and content of what stands before, between and behind the slots."""
    slots: tuple[Slot, ...]
    example: Message
    """The message that the frame carried; only the number of flags in its slots counts."""

    def matches(self, frame: bytes) -> bool:
        """Whether a frame of the same length is of this form."""
        return all(frame[start:stop] == content for start, stop, content in self.fixed)

    def message(self, frame: bytes) -> Message | None:
        """The message in a frame of this form; None where only a full check can tell."""
        arrays = {}
        for path, start, stop, dtype, shape in self.slots:
            if dtype.kind == "b" and not are_bools(frame[start:stop]):
                return None
            arrays[path] = np.ndarray(shape, dtype, frame, start)
        return _REFILL[type(self.example)](self.example, arrays)


class Decoder:
    """Decodes the frames of one connection, exactly as ``wire.decode`` does."""

    def __init__(self) -> None:
        """Know no form yet."""
        self._forms: OrderedDict[int, Form] = OrderedDict()
        self._vectors: dict[bytes, NDArray[np.int64]] = {}

    def decode(self, frame: bytes) -> Message:
        """The message in a frame.

        Raises:
            CodecError: ``frame`` is no legal msgpack value.
            InvalidMessageError: it is one, but no legal message.
        """
        form = self._forms.get(len(frame))
        if form is not None and form.matches(frame):
            message = form.message(frame)
            if message is not None:
                return message
        message = wire.decode(frame)
        if isinstance(message, Infer | Feedback):
            message = replace(message, env_indices=self._shared(message.env_indices))
        if type(message) in _REFILL:
            self._remember(frame, message)
        return message

    def _shared(self, env_indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same array for the same indices, so that comparing two is comparing identities."""
        if len(self._vectors) >= MAX_FORMS:
            self._vectors.clear()
        key = env_indices.tobytes()
        # Of bytes of its own: the one that came may be a view of its whole frame.
        return self._vectors.setdefault(key, np.frombuffer(key, np.int64))

    def _remember(self, frame: bytes, message: Message) -> None:
        form = form_of(frame, message)
        if form is None:
            return
        self._forms[len(frame)] = form
        self._forms.move_to_end(len(frame))
        if len(self._forms) > MAX_FORMS:
            self._forms.popitem(last=False)


def form_of(frame: bytes, message: Message) -> Form | None:
    """The form of a legal frame that carries ``message``; None where it would be too large."""
    free = {path for path, array in _arrays(message) if array.dtype.kind in _FREE_KINDS}
    slots = tuple(slot for slot in find_arrays(frame) if slot.path in free)
    starts = [0, *(slot.stop for slot in slots)]
    stops = [*(slot.start for slot in slots), len(frame)]
    fixed = tuple((i, j, frame[i:j]) for i, j in zip(starts, stops, strict=True))
    if sum(len(content) for _, _, content in fixed) > MAX_FORM_BYTES:
        return None
    return Form(fixed, slots, _hollow(message, slots))


def _hollow(message: Message, slots: tuple[Slot, ...]) -> Message:
    """``message`` without the memory of its arrays, which the slots stand for."""
    hollow = {
        slot.path: np.broadcast_to(np.zeros((), slot.dtype), slot.shape)
        for slot in slots
        if slot.path != _REUSE
    }
    emptied = _REFILL[type(message)](message, hollow)
    assert emptied is not None
    return emptied


def find_arrays(frame: bytes) -> list[Slot]:
    """The arrays in the maps of a legal frame, in their order."""
    finder = _Finder(frame)
    finder.enter_map(())
    return finder.found


class _Finder:
    """Walks through the maps of a legal frame."""

    def __init__(self, frame: bytes) -> None:
        self.found: list[Slot] = []
        self._frame = frame
        self._unpacker = msgpack.Unpacker(max_buffer_size=max(len(frame), 1))
        self._unpacker.feed(frame)

    def enter_map(self, path: Path) -> None:
        for _ in range(self._unpacker.read_map_header()):
            key = self._unpacker.unpack()
            start = self._unpacker.tell()
            if self._frame.startswith(_ARRAY_START, start):
                self._enter_array((*path, key))
            elif _begins_map(self._frame[start]) and len(path) < _DEEPEST_MAP:
                self.enter_map((*path, key))
            else:
                self._unpacker.skip()

    def _enter_array(self, path: Path) -> None:
        claim, stop = {}, 0
        for _ in range(self._unpacker.read_map_header()):
            key = self._unpacker.unpack()
            claim[key] = self._unpacker.unpack()
            if key == b"data":
                stop = self._unpacker.tell()
        start, dtype = stop - len(claim[b"data"]), np.dtype(claim[b"dtype"])
        self.found.append(Slot(path, start, stop, dtype, tuple(claim[b"shape"])))


def _begins_map(byte: int) -> bool:
    return byte & 0xF0 == 0x80 or byte in {0xDE, 0xDF}  # fixmap, map 16, map 32


def _arrays(message: Message) -> Iterator[tuple[Path, Array]]:
    """The arrays of a message that ``_REFILL`` takes from the frame, by path."""
    match message:
        case Action():
            yield ("data", "action"), message.action
        case Infer():
            yield ("step_ids",), message.step_ids
            if message.reuse is not None:
                yield _REUSE, message.reuse
            yield from _obs_arrays(message.obs, ("data",))
        case Feedback():
            yield ("step_ids",), message.step_ids
            for name in ("rewards", "terminated", "truncated"):
                yield ("data", name), getattr(message, name)
            if message.obs is not None:
                yield from _obs_arrays(message.obs, ("data", "obs"))
            yield from _info_arrays(message.info, ("data", "info"))


def _obs_arrays(obs: Observation, at: Path) -> Iterator[tuple[Path, Array]]:
    for name, image in obs.images.items():
        yield (*at, "images", name), image
    for name, state in obs.states.items():
        yield (*at, "states", name), state


def _info_arrays(info: Info, at: Path) -> Iterator[tuple[Path, Array]]:
    for key, value in info.items():
        if isinstance(value, np.ndarray):
            yield (*at, key), value
        elif isinstance(value, dict) and len(at) < _DEEPEST_MAP:
            yield from _info_arrays(value, (*at, key))


def _refill_action(example: Action, arrays: Arrays) -> Action:
    return Action(example.env_ids, arrays.get(("data", "action"), example.action))


def _refill_infer(example: Infer, arrays: Arrays) -> Infer | None:
    reuse = example.reuse
    if reuse is not None:
        # The number of rows that came, which the form fixes, must fit the flags.
        num_reused = np.count_nonzero(reuse)
        reuse = arrays.get(_REUSE, reuse)
        if np.count_nonzero(reuse) != num_reused:
            return None
    step_ids = as_int64(arrays.get(("step_ids",), example.step_ids))
    obs = _refill_obs(example.obs, arrays, ("data",))
    return Infer(obs, example.env_indices, step_ids, reuse)


def _refill_feedback(example: Feedback, arrays: Arrays) -> Feedback:
    rewards = arrays.get(("data", "rewards"), example.rewards)
    refuse_not_finite(rewards, "$.data.rewards")
    return Feedback(
        example.env_indices,
        as_int64(arrays.get(("step_ids",), example.step_ids)),
        None if example.obs is None else _refill_obs(example.obs, arrays, ("data", "obs")),
        rewards,
        arrays.get(("data", "terminated"), example.terminated),
        arrays.get(("data", "truncated"), example.truncated),
        _refill_info(example.info, arrays, ("data", "info")),
    )


def _refill_obs(example: Observation, arrays: Arrays, at: Path) -> Observation:
    return Observation(
        {name: arrays.get((*at, "images", name), old) for name, old in example.images.items()},
        {name: arrays.get((*at, "states", name), old) for name, old in example.states.items()},
        example.text,
    )


def _refill_info(example: Info, arrays: Arrays, at: Path) -> Info:
    return {
        key: _refill_info(old, arrays, (*at, key))
        if isinstance(old, dict)
        else arrays.get((*at, key), old)
        for key, old in example.items()
    }


_REFILL: Mapping[type, Callable[[Any, Arrays], Message | None]] = {
    Action: _refill_action,
    Infer: _refill_infer,
    Feedback: _refill_feedback,
}
