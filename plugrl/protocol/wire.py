"""Messages to bytes and back, with every rule of the schema checked on the way in."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError
from plugrl.protocol import codec
from plugrl.protocol.fields import (
    FieldMap,
    array_field,
    as_int64,
    env_vector,
    map_field,
    reward_vector,
    vector,
)
from plugrl.protocol.info import check_info
from plugrl.protocol.messages import Action, Feedback, Infer, Message, Metadata, Observation
from plugrl.protocol.observations import (
    UnsplittableError,
    observation,
    observation_without_rows,
)
from plugrl.protocol.writing import Pieces, add_array, add_observation, map_header, text


def encode(message: Message) -> bytes:
    """The frame that carries ``message``.

    Raises:
        CodecError: it holds a type that the wire does not carry.
    """
    pieces: Pieces = []
    _WRITE[type(message)](pieces, message)
    return b"".join(pieces)


def decode(data: bytes | bytearray | memoryview) -> Message:
    """The message in a frame, checked against the schema; its arrays are read-only views.

    Raises:
        CodecError: ``data`` is no legal msgpack value.
        InvalidMessageError: it is one, but no legal message.
    """
    fields = codec.unpack(data)
    if not isinstance(fields, dict):
        raise InvalidMessageError(f"expected a map, got {type(fields).__name__}, at $")
    kind = fields.get("message_type")
    from_map = _FROM_MAP.get(kind) if isinstance(kind, str) else None
    if from_map is None:
        raise InvalidMessageError(
            f"expected one of {', '.join(_FROM_MAP)}, got {kind!r:.40}, at $.message_type"
        )
    return from_map(fields)


def _write_metadata(pieces: Pieces, message: Metadata) -> None:
    pieces.append(codec.pack({"message_type": "metadata", "data": message.data}))


def _metadata(fields: FieldMap) -> Metadata:
    return Metadata(map_field(fields, "data", "$"))


def _write_infer(pieces: Pieces, message: Infer) -> None:
    pieces.append(_INFER_START if message.reuse is None else _REUSING_INFER_START)
    add_observation(pieces, message.obs)
    pieces.append(text("env_indices"))
    add_array(pieces, _i8(message.env_indices))
    pieces.append(text("step_ids"))
    add_array(pieces, _i8(message.step_ids))
    if message.reuse is not None:
        pieces.append(text("reuse"))
        add_array(pieces, message.reuse)


def _infer(fields: FieldMap) -> Infer:
    env_indices = env_vector(fields, "env_indices", "$")
    n = len(env_indices)
    step_ids = as_int64(vector(fields, "step_ids", "$", kinds="iu", length=n))
    if "reuse" not in fields:
        return Infer(observation(fields, "data", "$", n), env_indices, step_ids)
    reuse = vector(fields, "reuse", "$", kinds="b", length=n)
    num_rows = n - int(np.count_nonzero(reuse))
    if n and not num_rows:
        obs = observation_without_rows(fields, "data", "$")
    else:
        obs = observation(fields, "data", "$", num_rows)
    return Infer(obs, env_indices, step_ids, reuse)


def _write_action(pieces: Pieces, message: Action) -> None:
    if message.env_ids is None:
        pieces.append(_ACTION_START + map_header(1))
    else:
        pieces.append(_ACTION_START + map_header(2) + text("env_ids"))
        add_array(pieces, _i8(message.env_ids))
    pieces.append(text("action"))
    add_array(pieces, message.action)


def _action(fields: FieldMap) -> Action:
    data = map_field(fields, "data", "$")
    action = array_field(data, "action", "$.data", "buif")
    if action.ndim < 2 or not action.shape[0]:
        raise InvalidMessageError(
            f"expected shape (H >= 1, n, ...), got {action.shape}, at $.data.action"
        )
    if "env_ids" not in data:
        return Action(None, action)
    env_ids = as_int64(vector(data, "env_ids", "$.data", kinds="iu", length=action.shape[1]))
    return Action(env_ids, action)


def _write_feedback(pieces: Pieces, message: Feedback) -> None:
    assert message.obs is not None, "a client knows what its envs saw"
    pieces.append(_FEEDBACK_START)
    add_array(pieces, _i8(message.env_indices))
    pieces.append(text("step_ids"))
    add_array(pieces, _i8(message.step_ids))
    pieces.append(_FEEDBACK_DATA_START)
    add_observation(pieces, message.obs)
    for name, array in (
        ("rewards", message.rewards),
        ("terminated", message.terminated),
        ("truncated", message.truncated),
    ):
        pieces.append(text(name))
        add_array(pieces, array)
    pieces += (text("info"), codec.pack(message.info) if message.info else map_header(0))


def _feedback(fields: FieldMap) -> Feedback:
    env_indices = env_vector(fields, "env_indices", "$")
    m = len(env_indices)
    step_ids = as_int64(vector(fields, "step_ids", "$", kinds="iu", length=m))
    data = map_field(fields, "data", "$", keys=_FEEDBACK_KEYS)
    obs: Observation | None
    try:
        obs = observation(data, "obs", "$.data", m)
    except UnsplittableError:
        obs = None
    return Feedback(
        env_indices,
        step_ids,
        obs,
        reward_vector(data, "rewards", "$.data", m),
        vector(data, "terminated", "$.data", kinds="b", length=m),
        vector(data, "truncated", "$.data", kinds="b", length=m),
        check_info(map_field(data, "info", "$.data"), m),
    )


def _i8(indices: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(indices, "<i8")


_FEEDBACK_KEYS = frozenset({"obs", "rewards", "terminated", "truncated", "info"})


def _start(kind: str, num_fields: int, first: str) -> bytes:
    """How a message of this type begins, up to its first field's value."""
    return map_header(num_fields) + text("message_type") + text(kind) + text(first)


_INFER_START = _start("infer", 4, "data")
_REUSING_INFER_START = _start("infer", 5, "data")
_ACTION_START = _start("action", 2, "data")
_FEEDBACK_START = _start("feedback", 4, "env_indices")
_FEEDBACK_DATA_START = text("data") + map_header(5) + text("obs")

_WRITE: Mapping[type, Callable[[Pieces, Any], None]] = {
    Metadata: _write_metadata,
    Infer: _write_infer,
    Action: _write_action,
    Feedback: _write_feedback,
}

_FROM_MAP: Mapping[str, Callable[[FieldMap], Message]] = {
    "metadata": _metadata,
    "infer": _infer,
    "action": _action,
    "feedback": _feedback,
}
