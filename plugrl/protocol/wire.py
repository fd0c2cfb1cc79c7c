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
    observation_to_map,
    observation_without_rows,
)


def encode(message: Message) -> bytes:
    """The frame that carries ``message``.

    Raises:
        CodecError: it holds a type that the wire does not carry.
    """
    return codec.pack(_TO_MAP[type(message)](message))


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


def _metadata_to_map(message: Metadata) -> FieldMap:
    return {"message_type": "metadata", "data": message.data}


def _metadata(fields: FieldMap) -> Metadata:
    return Metadata(map_field(fields, "data", "$"))


def _infer_to_map(message: Infer) -> FieldMap:
    fields = {
        "message_type": "infer",
        "data": observation_to_map(message.obs),
        "env_indices": _i8(message.env_indices),
        "step_ids": _i8(message.step_ids),
    }
    if message.reuse is not None:
        fields["reuse"] = message.reuse
    return fields


def _infer(fields: FieldMap) -> Infer:
    env_indices = env_vector(fields, "env_indices", "$")
    n = len(env_indices)
    step_ids = as_int64(vector(fields, "step_ids", "$", "iu", n))
    if "reuse" not in fields:
        return Infer(observation(fields, "data", "$", n), env_indices, step_ids)
    reuse = vector(fields, "reuse", "$", "b", n)
    num_rows = n - int(np.count_nonzero(reuse))
    if n and not num_rows:
        obs = observation_without_rows(fields, "data", "$")
    else:
        obs = observation(fields, "data", "$", num_rows)
    return Infer(obs, env_indices, step_ids, reuse)


def _action_to_map(message: Action) -> FieldMap:
    data: dict[str, Any] = {"action": message.action}
    if message.env_ids is not None:
        data = {"env_ids": _i8(message.env_ids), **data}
    return {"message_type": "action", "data": data}


def _action(fields: FieldMap) -> Action:
    data = map_field(fields, "data", "$")
    action = array_field(data, "action", "$.data", "buif")
    if action.ndim < 2 or not action.shape[0]:
        raise InvalidMessageError(
            f"expected shape (H >= 1, n, ...), got {action.shape}, at $.data.action"
        )
    if "env_ids" not in data:
        return Action(None, action)
    env_ids = as_int64(vector(data, "env_ids", "$.data", "iu", action.shape[1]))
    return Action(env_ids, action)


def _feedback_to_map(message: Feedback) -> FieldMap:
    assert message.obs is not None, "a client knows what its envs saw"
    return {
        "message_type": "feedback",
        "env_indices": _i8(message.env_indices),
        "step_ids": _i8(message.step_ids),
        "data": {
            "obs": observation_to_map(message.obs),
            "rewards": message.rewards,
            "terminated": message.terminated,
            "truncated": message.truncated,
            "info": message.info,
        },
    }


def _feedback(fields: FieldMap) -> Feedback:
    env_indices = env_vector(fields, "env_indices", "$")
    m = len(env_indices)
    step_ids = as_int64(vector(fields, "step_ids", "$", "iu", m))
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
        vector(data, "terminated", "$.data", "b", m),
        vector(data, "truncated", "$.data", "b", m),
        check_info(map_field(data, "info", "$.data"), m),
    )


def _i8(indices: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(indices, "<i8")


_FEEDBACK_KEYS = frozenset({"obs", "rewards", "terminated", "truncated", "info"})

_TO_MAP: Mapping[type, Callable[[Any], FieldMap]] = {
    Metadata: _metadata_to_map,
    Infer: _infer_to_map,
    Action: _action_to_map,
    Feedback: _feedback_to_map,
}

_FROM_MAP: Mapping[str, Callable[[FieldMap], Message]] = {
    "metadata": _metadata,
    "infer": _infer,
    "action": _action,
    "feedback": _feedback,
}
