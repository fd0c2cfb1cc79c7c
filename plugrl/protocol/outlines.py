"""Messages that look like earlier ones: their arrays are put between bytes that are there already.

The messages that a connection sends differ from each other in little more than the numbers in
their arrays. An ``Outline`` is all the rest of a frame that was once encoded in full.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from plugrl.protocol import wire
from plugrl.protocol.forms import Slot, find_arrays
from plugrl.protocol.messages import Action, Array, Feedback, Infer, Message, Metadata, Observation

Signature: TypeAlias = Sequence[Any]
"""All that an outline depends on; of arrays, their dtypes and shapes."""


class Outline(NamedTuple):
    """A frame without its arrays."""

    signature: Signature
    """Of the messages that it is the outline of."""
    pieces: list[Any]
    """What stands before, between and behind the arrays, with room for them."""


class Encoder:
    """Encodes the messages of one connection, exactly as ``wire.encode`` does."""

    def __init__(self) -> None:
        """Know no outline yet."""
        self._outlines: dict[type, Outline] = {}

    def encode(self, message: Message) -> bytes:
        """The frame that carries ``message``.

        Raises:
            CodecError: it holds a type that the wire does not carry.
        """
        kind = type(message)
        content = _CONTENT[kind](message)
        if content is None:
            return wire.encode(message)
        outline = self._outlines.get(kind)
        if outline is None or outline.signature != content.signature:
            return self._in_full(message, content)
        pieces = outline.pieces.copy()
        pieces[1::2] = content.arrays
        try:
            return b"".join(pieces)
        except TypeError:
            # An array whose numbers don't lie side by side in memory has to be copied first.
            return wire.encode(message)

    def _in_full(self, message: Message, content: "Content") -> bytes:
        frame = wire.encode(message)
        slots = [slot for slot in find_arrays(frame) if slot.dtype.kind != "U"]
        # They differ where an array is sent as another type than it has.
        if [(slot.dtype, slot.shape) for slot in slots] == [
            (array.dtype, array.shape) for array in content.arrays
        ]:
            self._outlines[type(message)] = Outline(content.signature, _pieces(frame, slots))
        return frame


class Content(NamedTuple):
    """What of a message goes into an outline, and what the outline depends on."""

    arrays: list[Array]
    """In the order in which they are sent."""
    signature: Signature


def _content(arrays: list[Array], obs: Observation | None = None) -> Content:
    signature: list[Any] = [(array.dtype, array.shape) for array in arrays]
    if obs is not None:
        text = obs.text
        # Text is sent by its value: whether it may be sent depends on that.
        signature += (*obs.images, None, *obs.states, text.dtype, text.shape, text.tobytes())
    return Content(arrays, signature)


def _action(message: Action) -> Content | None:
    if message.env_ids is None:
        return None
    return _content([message.env_ids, message.action])


def _infer(message: Infer) -> Content:
    obs = message.obs
    arrays: list[Array] = [*obs.images.values(), *obs.states.values()]
    arrays += (message.env_indices, message.step_ids)
    if message.reuse is not None:
        arrays.append(message.reuse)
    return _content(arrays, obs)


def _feedback(message: Feedback) -> Content | None:
    obs = message.obs
    if message.info or obs is None:
        return None
    arrays: list[Array] = [
        message.env_indices,
        message.step_ids,
        *obs.images.values(),
        *obs.states.values(),
        message.rewards,
        message.terminated,
        message.truncated,
    ]
    return _content(arrays, obs)


_CONTENT: Mapping[type, Callable[[Any], Content | None]] = {
    Metadata: lambda _: None,
    Action: _action,
    Infer: _infer,
    Feedback: _feedback,
}
"""By message type; None for a message that has to be encoded in full."""


def _pieces(frame: bytes, slots: Sequence[Slot]) -> list[Any]:
    starts = [0, *(slot.stop for slot in slots)]
    stops = [*(slot.start for slot in slots), len(frame)]
    pieces: list[Any] = [None] * (2 * len(slots) + 1)
    pieces[::2] = [frame[i:j] for i, j in zip(starts, stops, strict=True)]
    return pieces
