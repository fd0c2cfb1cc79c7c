"""Messages that look like earlier ones: their arrays are put between bytes that are there already.

The messages that a connection sends differ from each other in little more than the numbers in
their arrays. An ``Outline`` is all the rest of a frame that was once encoded in full.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.bundles import bundle
from plugrl.protocol import wire
from plugrl.protocol.forms import Slot, find_arrays
from plugrl.protocol.messages import Action, Array, Feedback, Infer, Message, Metadata, Observation

Signature: TypeAlias = Sequence[Any]
"""All that an outline depends on; of arrays, their dtypes and shapes."""


class Outline(NamedTuple):
    """A frame without its arrays. An ``Encoder`` tells its outlines apart by their identity."""

    signature: Signature
    """Of the messages that it is the outline of."""
    pieces: list[Any]
    """What stands before, between and behind the arrays, with room for them."""


class Encoder:
    """Encodes the messages of one connection, exactly as ``wire.encode`` does."""

    def __init__(self) -> None:
        """Know no outline yet."""
        self._outlines: dict[type, Outline] = {}
        self._latest_outline: Outline | None = None
        """Of the message encoded last; None where that had to be encoded in full."""
        self._latest_obs: Observation | None = None
        """What was sent with that outline."""
        self._echo: Echo | None = None

    def encode(self, message: Message) -> bytes:
        """The frame that carries ``message``.

        Raises:
            CodecError: it holds a type that the wire does not carry.
        """
        self._latest_outline = self._latest_obs = None
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
            frame = b"".join(pieces)
        except TypeError:
            # An array whose numbers don't lie side by side in memory has to be copied first.
            return wire.encode(message)
        self._latest_outline, self._latest_obs = outline, content.obs
        return frame

    def encode_echo(
        self, obs: Observation, env_indices: NDArray[np.int64], step_ids: NDArray[np.int64]
    ) -> bytes:
        """The infer that reuses every row of ``obs``, most often the observation sent last.

        Args:
            obs: n rows, none of which is sent.
            env_indices: (n,)
            step_ids: (n,)
        """
        of, echo = self._latest_outline if self._latest_obs is obs else None, self._echo
        if (
            of is not None
            and echo is not None
            and echo.of is of
            and echo.env_indices == env_indices.tobytes()
            and echo.step_ids == (step_ids.dtype, step_ids.shape)
        ):
            return b"".join((echo.head, step_ids.tobytes(), echo.tail))
        reuse = np.ones(len(env_indices), np.bool_)
        frame = self.encode(Infer(obs.rows(slice(0, 0)), env_indices, step_ids, reuse))
        if of is not None:
            self._echo = _echo(of, frame, env_indices)
        return frame

    def _in_full(self, message: Message, content: "Content") -> bytes:
        frame = wire.encode(message)
        slots = [slot for slot in find_arrays(frame) if slot.dtype.kind != "U"]
        # They differ where an array is sent as another type than it has.
        if [(slot.dtype, slot.shape) for slot in slots] == [
            (array.dtype, array.shape) for array in content.arrays
        ]:
            self._outlines[type(message)] = Outline(content.signature, _pieces(frame, slots))
        return frame


class Echo(NamedTuple):
    """An infer that reuses all rows of an observation, without its step ids.

    Whatever the numbers in these rows are, it is the same.
    """

    of: Outline
    """Of the message that the observation was sent with."""
    env_indices: bytes
    """Their numbers."""
    step_ids: tuple[np.dtype[Any], tuple[int, ...]]
    """Of which dtype and shape they are."""
    head: bytes
    """What stands before them."""
    tail: bytes
    """What stands behind them."""


@bundle
class Content:
    """What of a message goes into an outline, and what the outline depends on."""

    arrays: list[Array]
    """In the order in which they are sent."""
    signature: Signature
    obs: Observation | None
    """What it has of one."""


def _content(arrays: list[Array], obs: Observation) -> Content:
    signature: list[Any] = [(array.dtype, array.shape) for array in arrays]
    text = obs.text
    # Text is sent by its value: whether it may be sent depends on that.
    signature += (*obs.images, None, *obs.states, text.dtype, text.shape, text.tobytes())
    return Content(arrays, signature, obs)


def _action(message: Action) -> Content | None:
    if message.env_ids is None:
        return None
    ids, action = message.env_ids, message.action
    return Content([ids, action], [(ids.dtype, ids.shape), (action.dtype, action.shape)], None)


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


def _echo(of: Outline, frame: bytes, env_indices: NDArray[np.int64]) -> Echo:
    at = next(slot for slot in find_arrays(frame) if slot.path == ("step_ids",))
    head, tail = frame[: at.start], frame[at.stop :]
    return Echo(of, env_indices.tobytes(), (at.dtype, at.shape), head, tail)


def _pieces(frame: bytes, slots: Sequence[Slot]) -> list[Any]:
    starts = [0, *(slot.stop for slot in slots)]
    stops = [*(slot.start for slot in slots), len(frame)]
    pieces: list[Any] = [None] * (2 * len(slots) + 1)
    pieces[::2] = [frame[i:j] for i, j in zip(starts, stops, strict=True)]
    return pieces
