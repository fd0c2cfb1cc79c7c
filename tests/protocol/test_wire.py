"""Messages on the wire: golden bytes, round trips, and every rule of the schema broken once."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plugrl.errors import CodecError, InvalidMessageError
from plugrl.protocol import codec, wire
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Action,
    Feedback,
    Infer,
    Message,
    Metadata,
    Observation,
)


def _i8(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


GOLDEN_MESSAGES: dict[str, Message] = {
    "metadata": Metadata(
        {"protocol_version": 1, "server": "plugrl", "features": [REUSE_FEEDBACK_OBS]}
    ),
    "infer": Infer(
        Observation(
            {"cam": np.array([[[[1, 2, 3]]]], dtype=np.uint8)},
            {"s": np.array([[0.5, -1.0]])},
            np.array(["go"]),
        ),
        _i8(7),
        _i8(3),
    ),
    "infer-reuse": Infer(
        Observation({}, {"s": np.array([[2.0]])}, np.array(["go"])),
        _i8(0, 4),
        _i8(1, 0),
        np.array([True, False]),
    ),
    "action": Action(_i8(7), np.array([[[0.25, -0.5]], [[1.0, 2.0]]], dtype=np.float32)),
    "feedback": Feedback(
        _i8(7),
        _i8(4),
        Observation({}, {"s": np.array([[1.5]])}, np.array(["é"])),
        np.array([1.5], dtype=np.float32),
        np.array([True]),
        np.array([False]),
        {"episode": {"r": np.array([9.0]), "l": _i8(5), "s": np.array([True])}},
    ),
}


def _fields(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = codec.unpack(wire.encode(GOLDEN_MESSAGES[name]))
    return copy.deepcopy(fields)


def _changed(name: str, path: str, value: Any) -> bytes:
    """The golden message with the value at ``path`` replaced, or removed where it is ``...``."""
    fields = _fields(name)
    *parents, last = path.split(".")
    place = fields
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return codec.pack(fields)


def _assert_same(value: Any, other: Any) -> None:
    assert type(value) is type(other)
    if isinstance(value, np.ndarray):
        assert value.dtype == other.dtype
        np.testing.assert_array_equal(value, other)
    elif isinstance(value, dict):
        assert list(value) == list(other)
        for key in value:
            _assert_same(value[key], other[key])
    elif hasattr(value, "__slots__"):
        for slot in value.__slots__:
            _assert_same(getattr(value, slot), getattr(other, slot))
    else:
        assert value == other


@pytest.mark.parametrize("name", GOLDEN_MESSAGES)
def test_a_message_is_encoded_as_the_golden_bytes(
    name: str, golden: Callable[[str], bytes]
) -> None:
    assert wire.encode(GOLDEN_MESSAGES[name]).hex(" ") == golden(name).hex(" ")


@pytest.mark.parametrize("name", GOLDEN_MESSAGES)
def test_golden_bytes_are_decoded_as_the_message(name: str, golden: Callable[[str], bytes]) -> None:
    _assert_same(wire.decode(golden(name)), GOLDEN_MESSAGES[name])


@given(data=st.data(), n=st.integers(0, 5))
def test_any_legal_feedback_comes_back(data: st.DataObject, n: int) -> None:
    floats = st.floats(-1e6, 1e6, width=32)
    names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    states = st.dictionaries(
        names, st.integers(0, 4).flatmap(lambda d: hnp.arrays("<f4", (n, d), elements=floats))
    )
    images = st.dictionaries(names, hnp.arrays("|u1", (n, 2, 1, 3)))
    texts = st.lists(names, min_size=n, max_size=n)
    envs = st.lists(st.integers(0, 2**62), min_size=n, max_size=n, unique=True)
    message = Feedback(
        env_indices=_i8(*data.draw(envs)),
        step_ids=data.draw(hnp.arrays("<i8", n)),
        obs=Observation(
            data.draw(images), data.draw(states), np.array(data.draw(texts), dtype=np.str_)
        ),
        rewards=data.draw(hnp.arrays("<f4", n, elements=floats)),
        terminated=data.draw(hnp.arrays("|b1", n)),
        truncated=data.draw(hnp.arrays("|b1", n)),
    )
    _assert_same(wire.decode(wire.encode(message)), message)


NOT_AN_INDEX_VECTOR: list[Any] = [
    ...,
    None,
    [7],
    7,
    np.float64(7),
    np.array([7.0]),
    np.array(7),
    np.array([[7]]),
    np.array(["7"]),
    np.array([True]),
]
NOT_FLAGS: list[Any] = [
    ...,
    None,
    True,
    [True],
    np.array([1]),
    np.array([True, False]),
    np.array(True),
]


@pytest.mark.parametrize(
    ("name", "path", "values"),
    [
        ("metadata", "message_type", [..., None, "hello", b"metadata", 1, ["metadata"], {}]),
        ("metadata", "data", [..., None, [], "text"]),
        ("infer", "env_indices", [*NOT_AN_INDEX_VECTOR, np.array([7, 7]), np.array([-1])]),
        ("infer", "env_indices", [_i8(), _i8(7, 8), np.array([2**63], dtype=np.uint64)]),
        ("infer", "step_ids", [*NOT_AN_INDEX_VECTOR, np.array([3, 4]), _i8()]),
        ("infer", "data", [..., None, [], np.zeros(1)]),
        ("infer", "data.images", [..., None, [], np.zeros((1, 1, 1, 3), dtype=np.uint8)]),
        ("infer", "data.states", [..., None, []]),
        ("infer", "data.extra", [1]),
        ("infer", "data.images.cam", [None, [1], np.zeros((1, 1, 3), dtype=np.uint8)]),
        ("infer", "data.images.cam", [np.zeros((1, 1, 1, 3)), np.zeros((1, 1, 1, 3), "i1")]),
        ("infer", "data.images.cam", [np.zeros((2, 1, 1, 3), dtype=np.uint8)]),
        ("infer", "data.images", [{b"cam": np.zeros((1, 1, 1, 3), dtype=np.uint8)}]),
        ("infer", "data.states.s", [None, 1.0, np.zeros(1), np.zeros((2, 1)), np.zeros(())]),
        ("infer", "data.states.s", [np.zeros((1, 2), dtype=np.int64), np.array([["a"]])]),
        ("infer", "data.states.s", [np.zeros((1, 2, 1)), np.zeros((0, 2)), {"deep": np.zeros(1)}]),
        ("infer", "data.text", [..., None, "go", ["go", "on"], [1], [b"go"], []]),
        ("infer", "data.text", [np.array(["go", "on"]), np.array("go"), np.array([["go"]])]),
        ("infer", "data.text", [np.zeros(1), np.zeros(0)]),
        ("infer", "reuse", [*NOT_FLAGS[1:], np.array([], dtype=np.bool_), np.array([1.0])]),
        ("infer", "reuse", [np.array([True])]),
        ("infer-reuse", "reuse", [np.array([True, True]), np.array([False, False])]),
        ("action", "data", [..., None, {}]),
        ("action", "data.action", [..., None, [[0.0]], np.zeros(3), np.zeros((0, 1, 2))]),
        ("action", "data.action", [np.array([["a"]]), np.zeros(())]),
        ("action", "data.env_ids", [None, [7], _i8(7, 8), np.array([7.0])]),
        ("feedback", "env_indices", [*NOT_AN_INDEX_VECTOR, np.array([-1]), _i8(7, 8)]),
        ("feedback", "step_ids", [*NOT_AN_INDEX_VECTOR, np.array([3, 4])]),
        ("feedback", "data", [..., None, [], {}]),
        ("feedback", "data.extra", [1]),
        ("feedback", "data.obs", [..., None, {}, np.zeros(1)]),
        ("feedback", "data.obs.images", [..., None, np.zeros(1)]),
        ("feedback", "data.obs.states.s", [np.zeros((1, 1), dtype=np.int64)]),
        ("feedback", "data.obs.text", [..., np.zeros(1)]),
        ("feedback", "data.rewards", [..., None, 1.0, [1.0], np.array([1]), np.array(1.0)]),
        ("feedback", "data.rewards", [np.zeros(2), np.zeros((1, 1)), np.zeros(0)]),
        ("feedback", "data.rewards", [np.array([1e300]), np.array([-3.5e38])]),
        ("feedback", "data.rewards", [np.array([np.nan]), np.array([np.inf]), -np.array([np.inf])]),
        ("feedback", "data.terminated", NOT_FLAGS),
        ("feedback", "data.truncated", NOT_FLAGS),
        ("feedback", "data.info", [..., None, [], "text"]),
    ],
)
def test_a_message_that_breaks_a_rule_is_refused(name: str, path: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidMessageError, match=r"^expected .*, got .*, at \$"):
            wire.decode(_changed(name, path, value))


@pytest.mark.parametrize("value", [None, [], "infer", 1, np.zeros(1)])
def test_a_frame_that_is_no_map_is_refused(value: Any) -> None:
    with pytest.raises(InvalidMessageError, match=r"expected a map, got .*, at \$"):
        wire.decode(codec.pack(value))


def test_a_frame_that_is_no_msgpack_is_refused() -> None:
    with pytest.raises(CodecError):
        wire.decode(b"\xc1")


def test_an_error_names_the_path_of_the_field() -> None:
    with pytest.raises(InvalidMessageError) as caught:
        wire.decode(_changed("infer", "data.states.s", np.zeros((1, 2), dtype=np.int32)))
    assert str(caught.value) == (
        "expected float of 2 dimensions with 1 rows, got int32 of shape (1, 2), at $.data.states.s"
    )


@pytest.mark.parametrize(
    "obs_change",
    [
        ("states.s", np.zeros((2, 1))),
        ("states.s", np.zeros(1)),
        ("states.s", np.zeros(())),
        ("states.s", 1.0),
        ("images.cam", np.zeros((3, 3), dtype=np.uint8)),
        ("text", np.array(["a", "b"])),
        ("text", []),
        ("text", "a"),
    ],
)
def test_a_feedback_obs_without_a_row_for_each_env_is_none(obs_change: tuple[str, Any]) -> None:
    path, value = obs_change
    feedback = wire.decode(_changed("feedback", f"data.obs.{path}", value))
    assert isinstance(feedback, Feedback)
    assert feedback.obs is None
    assert feedback.rewards.tolist() == [1.5]


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "<i4", "<u2", "|u1"])
def test_indices_of_any_integer_dtype_become_int64(dtype: str) -> None:
    infer = wire.decode(_changed("infer", "env_indices", np.array([7], dtype=dtype)))
    assert isinstance(infer, Infer)
    assert infer.env_indices.dtype == np.int64
    assert infer.env_indices.tolist() == [7]


def test_step_ids_are_not_used_and_may_be_anything() -> None:
    wire.decode(_changed("infer", "step_ids", np.array([-1])))


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f8"])
def test_states_keep_their_float_dtype(dtype: str) -> None:
    infer = wire.decode(_changed("infer", "data.states.s", np.ones((1, 2), dtype=dtype)))
    assert isinstance(infer, Infer)
    assert infer.obs.states["s"].dtype == np.dtype(dtype)


def test_text_as_a_list_becomes_an_array() -> None:
    infer = wire.decode(_changed("infer", "data.text", ["héllo"]))
    assert isinstance(infer, Infer)
    assert infer.obs.text.dtype == "<U5"
    assert infer.obs.text.tolist() == ["héllo"]


def test_an_action_without_env_ids_is_legal() -> None:
    action = wire.decode(_changed("action", "data.env_ids", ...))
    assert isinstance(action, Action)
    assert action.env_ids is None


def test_an_action_without_env_ids_is_encoded_without_them() -> None:
    frame = wire.encode(Action(None, np.zeros((1, 1, 1))))
    assert list(codec.unpack(frame)["data"]) == ["action"]


def test_messages_about_no_env_are_legal(
    make_infer: Callable[..., Infer], make_feedback: Callable[..., Feedback]
) -> None:
    for message in (make_infer([], []), make_feedback([], [])):
        decoded = wire.decode(wire.encode(message))
        assert isinstance(decoded, Infer | Feedback)
        assert decoded.env_indices.tolist() == []


@pytest.mark.parametrize("name", GOLDEN_MESSAGES)
def test_unknown_fields_beside_data_are_ignored(name: str) -> None:
    _assert_same(wire.decode(_changed(name, "agent_id", 3)), GOLDEN_MESSAGES[name])


def test_unknown_metadata_is_kept_however_large() -> None:
    data = {"new": {"deep": [1, None]}, "weights": np.zeros(300_000)}
    metadata = wire.decode(wire.encode(Metadata(data)))
    assert isinstance(metadata, Metadata)
    assert list(metadata.data) == ["new", "weights"]


def test_with_all_rows_reused_arrays_of_any_kind_are_legal_if_empty() -> None:
    fields = _fields("infer-reuse") | {"reuse": np.array([True, True])}
    empty: Any
    for empty in (np.zeros(0), [], np.zeros((0, 4)), np.array([], dtype=np.str_)):
        fields["data"] = {"images": {}, "states": {"s": np.zeros((0, 1))}, "text": empty}
        infer = wire.decode(codec.pack(fields))
        assert isinstance(infer, Infer)
        assert len(infer.obs) == 0


@pytest.mark.parametrize(
    "data",
    [
        {"images": {}, "states": {"s": np.zeros((1, 1))}, "text": np.zeros(0)},
        {"images": {"cam": np.zeros(())}, "states": {}, "text": []},
        {"images": {}, "states": {"s": 0.0}, "text": []},
        {"images": {}, "states": {}, "text": "a"},
        {"images": {}, "states": {}, "text": [[1], [1, 2]]},
        {"images": {}, "states": {}},
        {"images": [], "states": {}, "text": []},
    ],
)
def test_with_all_rows_reused_a_row_that_came_anyway_is_refused(data: Any) -> None:
    fields = _fields("infer-reuse") | {"reuse": np.array([True, True]), "data": data}
    with pytest.raises(InvalidMessageError):
        wire.decode(codec.pack(fields))
