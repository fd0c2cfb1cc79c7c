"""Whose turn it is: the state of one connection, without any I/O, for either side.

A frame goes in, a checked message comes out, or ``ProtocolError``; after one the session is of no
more use and its connection is to be closed.
"""

import enum
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError, UnexpectedMessageError
from plugrl.protocol import wire
from plugrl.protocol.forms import Decoder
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Action,
    Array,
    Feedback,
    Infer,
    Metadata,
    Observation,
    all_true,
    any_true,
    same_indices,
)
from plugrl.protocol.outlines import Encoder
from plugrl.protocol.reuse import FeedbackMemory, ReusableEnvs


class Due(enum.Enum):
    """The message that has to come next; its value is the ``message_type``."""

    METADATA = "metadata"
    INFER = "infer"
    ACTION = "action"
    FEEDBACK = "feedback"

    # Each member is there once; Enum's own is a function in Python, called with every move.
    __hash__ = object.__hash__


LEGAL_MOVES: Mapping[Due, Due] = {
    Due.METADATA: Due.INFER,
    Due.INFER: Due.ACTION,
    Due.ACTION: Due.FEEDBACK,
    Due.FEEDBACK: Due.INFER,
}
"""What is due after what; the server sends metadata and action, the client infer and feedback."""

_DUE_OF = {Metadata: Due.METADATA, Infer: Due.INFER, Action: Due.ACTION, Feedback: Due.FEEDBACK}


class ServerSession:
    """The server's side of one connection."""

    def __init__(self, metadata: Metadata, *, max_envs: int) -> None:
        """Start before the greeting.

        Args:
            metadata: what the greeting says; its features are the ones on offer.
            max_envs: env indices must be below this.
        """
        self.due = Due.METADATA
        """The message that has to come next."""
        self._decoder = Decoder()
        self._metadata = metadata
        self._max_envs = max_envs
        self._waiting: NDArray[np.int64] = np.empty(0, np.int64)
        self._bounded = self._waiting
        """The indices that were checked last; the decoder makes equal ones the same array."""
        self._encoder = Encoder()
        self._memory = FeedbackMemory() if REUSE_FEEDBACK_OBS in metadata.features else None

    def greet(self) -> bytes:
        """The metadata, due once, first."""
        self.due = _move(self.due, Due.METADATA, "can't send")
        return wire.encode(self._metadata)

    def receive(self, data: bytes | str) -> Infer | Feedback:
        """Take a frame; an ``Infer`` comes out with all its n rows, reused ones filled in.

        Raises:
            ProtocolError: the frame is malformed, illegal or not due.
        """
        if isinstance(data, str):
            raise _text_frame(data)
        message = self._decoder.decode(data)
        kind = _DUE_OF[type(message)]
        if not isinstance(message, (Infer, Feedback)):
            raise _unexpected("received", kind, self.due)
        self.due = _move(self.due, kind, "received")
        if message.env_indices is not self._bounded:
            self._check_bound(message.env_indices)
        if isinstance(message, Feedback):
            if self._memory is not None:
                self._memory.store(message)
            return message
        self._waiting = message.env_indices
        return self._completed(message)

    def act(self, actions: Array) -> bytes:
        """Answer the infer that waits: ``actions`` (H, n, *action shape) in its order of envs."""
        self.due = _move(self.due, Due.ACTION, "can't send")
        assert actions.shape[1] == len(self._waiting), (actions.shape, len(self._waiting))
        return self._encoder.encode(Action(self._waiting, actions))

    def _check_bound(self, env_indices: NDArray[np.int64]) -> None:
        highest = max(env_indices.tolist(), default=-1)
        if highest >= self._max_envs:
            raise InvalidMessageError(
                f"expected env indices below {self._max_envs}, got {highest}, at $.env_indices"
            )
        self._bounded = env_indices

    def _completed(self, infer: Infer) -> Infer:
        if infer.reuse is None or len(infer.obs) == len(infer.reuse):
            return infer
        if self._memory is None:
            raise InvalidMessageError(
                f"expected no reuse without the feature {REUSE_FEEDBACK_OBS!r}, at $.reuse"
            )
        return self._memory.complete(infer)


class ClientSession:
    """The client's side of one connection."""

    def __init__(self, *, reuse_feedback_obs: bool = True) -> None:
        """Start before the greeting.

        Args:
            reuse_feedback_obs: leave out observations that the server has, if it offers that.
        """
        self.due = Due.METADATA
        """The message that has to come next."""
        self._decoder = Decoder()
        self._encoder = Encoder()
        self._reuse_feedback_obs = reuse_feedback_obs
        self._reusable: ReusableEnvs | None = None
        self._waiting: NDArray[np.int64] = np.empty(0, np.int64)

    def receive(self, data: bytes | str) -> Metadata | Action:
        """Take a frame; an ``Action`` comes out with ``env_ids`` filled in.

        Raises:
            ProtocolError: the frame is malformed, illegal or not due.
        """
        if isinstance(data, str):
            raise _text_frame(data)
        message = self._decoder.decode(data)
        kind = _DUE_OF[type(message)]
        if not isinstance(message, (Metadata, Action)):
            raise _unexpected("received", kind, self.due)
        self.due = _move(self.due, kind, "received")
        if isinstance(message, Action):
            return self._addressed(message)
        if self._reuse_feedback_obs and REUSE_FEEDBACK_OBS in message.features:
            self._reusable = ReusableEnvs()
        return message

    def infer(
        self,
        obs: Observation,
        env_indices: NDArray[np.int64],
        step_ids: NDArray[np.int64],
        *,
        unchanged: NDArray[np.bool_] | None = None,
    ) -> bytes:
        """Ask for actions for n envs.

        Args:
            obs: n rows.
            env_indices: (n,) distinct, at least 0.
            step_ids: (n,) action chunks completed in the episode.
            unchanged: (n,) true where the row is the one that the env's last feedback carried.
                Those that the server still has are left out; it may be true where it has not.
        """
        self.due = _move(self.due, Due.INFER, "can't send")
        self._waiting = env_indices
        if self._reusable is None or unchanged is None:
            return self._encoder.encode(Infer(obs, env_indices, step_ids))
        if self._reusable.all_of(env_indices) and all_true(unchanged):
            return self._encoder.encode_echo(obs, env_indices, step_ids)
        reuse = unchanged & self._reusable.among(env_indices)
        if not any_true(reuse):
            return self._encoder.encode(Infer(obs, env_indices, step_ids))
        return self._encoder.encode(Infer(obs.rows(~reuse), env_indices, step_ids, reuse))

    def feedback(self, feedback: Feedback) -> bytes:
        """Report what came of the actions of m envs."""
        self.due = _move(self.due, Due.FEEDBACK, "can't send")
        if self._reusable is not None:
            self._reusable.note(feedback)
        return self._encoder.encode(feedback)

    def _addressed(self, action: Action) -> Action:
        n = len(self._waiting)
        if action.action.shape[1] != n:
            raise InvalidMessageError(
                f"expected shape (H, {n}, ...), got {action.action.shape}, at $.data.action"
            )
        if action.env_ids is None:
            return Action(self._waiting, action.action)
        if not same_indices(action.env_ids, self._waiting):
            raise InvalidMessageError(
                f"expected the infer's {self._waiting!r:.200},"
                f" got {action.env_ids!r:.200}, at $.data.env_ids"
            )
        return action


def _text_frame(data: str) -> InvalidMessageError:
    return InvalidMessageError(f"expected a binary frame, got text {data!r:.200}, at $")


def _move(due: Due, kind: Due, verb: str) -> Due:
    if kind is not due:
        raise _unexpected(verb, kind, due)
    return LEGAL_MOVES[kind]


def _unexpected(verb: str, kind: Due, due: Due) -> UnexpectedMessageError:
    return UnexpectedMessageError(f"{verb} {kind.value} while waiting for {due.value}")
