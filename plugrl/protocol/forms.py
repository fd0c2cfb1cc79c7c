"""Frames that look like earlier ones: compared and cut instead of parsed.

The frames of a connection differ from each other in little more than the numbers in some arrays.
A ``Form`` is all the rest of a frame that was once parsed and checked in full. A frame of the same
length with the same bytes outside those arrays parses to the same tree with other numbers:
comparing costs a tenth of parsing, and the arrays are views of the frame itself.

Whatever is checked by its value (env indices, text) belongs to the form. Only arrays whose
numbers need no check, or one that a ``Filler`` makes again, may differ.
"""

import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import msgpack
import numpy as np
from numpy.typing import NDArray

from plugrl.protocol import wire
from plugrl.protocol.fields import as_int64, refuse_not_finite
from plugrl.protocol.messages import Action, Array, Feedback, Infer, Info, Message, Observation
from plugrl.protocol.ndarrays import BOOLS

MAX_FORMS = 64
"""Forms that one connection may have us remember; the oldest goes first."""
MAX_FORM_BYTES = 2**16
"""Largest form; frames of larger ones are parsed anew each time."""
MAX_RECORD_BYTES = 2**31 - 1
"""Largest frame that has a form: what NumPy allows one element of an array to take."""

Path: TypeAlias = tuple[str, ...]
Arrays: TypeAlias = Sequence[Array]
Filler: TypeAlias = Callable[[Arrays], Message | None]
"""Makes a message of the arrays of a frame; None where only a full check can tell."""
Positions: TypeAlias = Mapping[Path, int]
"""Where in ``Arrays`` the array of a path is."""

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

    layout: struct.Struct
    """Reads what stands before, between and behind the slots."""
    fixed: tuple[bytes, ...]
    """What it has to read."""
    record: np.dtype[np.void]
    """The whole frame as one element, whose fields are the arrays in the slots: to view a field
    of it is much cheaper than to make an array."""
    flags: tuple[slice, ...]
    """Where bools are, of whose bytes only two are legal."""
    constants: tuple[Array, ...]
    """Arrays that are part of what is fixed."""
    fill: Filler
    """Takes the arrays in the slots, then the constants."""

    def message(self, frame: bytes) -> Message | None:
        """The message in a frame of the same length; None where only a full check can tell."""
        if self.layout.unpack(frame) != self.fixed:
            return None
        for span in self.flags:
            # As ``are_bools`` does, without a call.
            if frame[span].strip(BOOLS):
                return None
        record: Array = np.ndarray((), self.record, frame)
        arrays: list[Array] = [record[name] for name in self.record.names or ()]
        arrays += self.constants
        return self.fill(arrays)


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
        if form is not None and (message := form.message(frame)) is not None:
            return message
        message = wire.decode(frame)
        if isinstance(message, Infer | Feedback):
            message = replace(message, env_indices=self._shared(message.env_indices))
        if type(message) in _FILLERS:
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
    arrays = dict(_arrays(message))
    free = {path for path, array in arrays.items() if array.dtype.kind in _FREE_KINDS}
    if isinstance(message, Infer) and _reuses_all(message):
        free.remove(_REUSE)
    # An empty array has no numbers that could differ.
    slots = tuple(s for s in find_arrays(frame) if s.path in free and s.start < s.stop)
    starts = [0, *(slot.stop for slot in slots)]
    stops = [*(slot.start for slot in slots), len(frame)]
    fixed = tuple(frame[i:j] for i, j in zip(starts, stops, strict=True))
    if sum(map(len, fixed)) > MAX_FORM_BYTES or len(frame) > MAX_RECORD_BYTES:
        return None
    gaps = [f"{slot.stop - slot.start}x" for slot in slots] + [""]
    layout = "".join(f"{len(part)}s{gap}" for part, gap in zip(fixed, gaps, strict=True))
    constants = {path: array for path, array in arrays.items() if path not in paths(slots)}
    positions = {path: i for i, path in enumerate([*paths(slots), *constants])}
    return Form(
        struct.Struct("<" + layout),
        fixed,
        _record(slots, len(frame)),
        tuple(slice(slot.start, slot.stop) for slot in slots if slot.dtype.kind == "b"),
        tuple(map(_own, constants.values())),
        _FILLERS[type(message)](message, positions),
    )


def _record(slots: Sequence[Slot], num_bytes: int) -> np.dtype[np.void]:
    return np.dtype(
        {
            "names": [str(i) for i in range(len(slots))],
            "formats": [(slot.dtype, slot.shape) for slot in slots],
            "offsets": [slot.start for slot in slots],
            "itemsize": num_bytes,
        }
    )


def _own(array: Array) -> Array:
    """A read-only copy: what came is a view of its whole frame."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def paths(slots: Sequence[Slot]) -> list[Path]:
    """The paths of slots, in their order."""
    return [slot.path for slot in slots]


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
    """The arrays of a message that a ``Filler`` takes from the frame, by path."""
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


def _action_filler(example: Action, at: Positions) -> Filler:
    env_ids, action = example.env_ids, at["data", "action"]
    return lambda arrays: Action(env_ids, arrays[action])


def _infer_filler(example: Infer, at: Positions) -> Filler:
    env_indices, step_ids = example.env_indices, at["step_ids",]
    fill_obs = _obs_filler(example.obs, at, ("data",))
    if example.reuse is None:
        return lambda arrays: Infer(fill_obs(arrays), env_indices, as_int64(arrays[step_ids]))
    if _reuses_all(example):
        no_rows, all_true = example.obs, at[_REUSE]
        return lambda arrays: Infer(
            no_rows, env_indices, as_int64(arrays[step_ids]), arrays[all_true]
        )
    reuse, num_reused = at[_REUSE], np.count_nonzero(example.reuse)

    def fill(arrays: Arrays) -> Infer | None:
        # The number of rows that came, which the form fixes, must fit the flags.
        if np.count_nonzero(arrays[reuse]) != num_reused:
            return None
        ids = as_int64(arrays[step_ids])
        return Infer(fill_obs(arrays), env_indices, ids, arrays[reuse])

    return fill


def _reuses_all(infer: Infer) -> bool:
    """Whether no row of it came, so that nothing in its observation nor its flags could differ."""
    return infer.reuse is not None and len(infer.reuse) > len(infer.obs) == 0


def _feedback_filler(example: Feedback, at: Positions) -> Filler:
    env_indices, step_ids = example.env_indices, at["step_ids",]
    rewards, terminated, truncated = (
        at["data", name] for name in ("rewards", "terminated", "truncated")
    )
    fill_info = _info_filler(example.info, at, ("data", "info"))
    fill_obs = None
    if example.obs is not None:
        fill_obs = _obs_filler(example.obs, at, ("data", "obs"))

    def fill(arrays: Arrays) -> Feedback:
        refuse_not_finite(arrays[rewards], "$.data.rewards")
        return Feedback(
            env_indices,
            as_int64(arrays[step_ids]),
            None if fill_obs is None else fill_obs(arrays),
            arrays[rewards],
            arrays[terminated],
            arrays[truncated],
            fill_info(arrays),
        )

    return fill


def _obs_filler(example: Observation, at: Positions, path: Path) -> Callable[[Arrays], Observation]:
    images = [(name, at[(*path, "images", name)]) for name in example.images]
    states = [(name, at[(*path, "states", name)]) for name in example.states]
    text = example.text.copy()
    if not images:
        return lambda arrays: Observation({}, {name: arrays[i] for name, i in states}, text)
    return lambda arrays: Observation(
        {name: arrays[i] for name, i in images}, {name: arrays[i] for name, i in states}, text
    )


def _info_filler(example: Info, at: Positions, path: Path) -> Callable[[Arrays], Info]:
    fillers = {
        key: _info_filler(value, at, (*path, key))
        for key, value in example.items()
        if isinstance(value, dict)
    }
    arrays_at = {key: at[(*path, key)] for key in example if (*path, key) in at}
    if not fillers and not arrays_at:
        return lambda _: dict(example)
    return lambda arrays: {
        key: fillers[key](arrays)
        if key in fillers
        else (arrays[arrays_at[key]] if key in arrays_at else value)
        for key, value in example.items()
    }


_FILLERS: Mapping[type, Callable[[Any, Positions], Filler]] = {
    Action: _action_filler,
    Infer: _infer_filler,
    Feedback: _feedback_filler,
}
