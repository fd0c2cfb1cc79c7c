"""Messages that look like earlier ones are encoded exactly as a full encoding does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrl.errors import CodecError
from plugrl.protocol import wire
from plugrl.protocol.messages import Action, Feedback, Infer, Message, Metadata, Observation
from plugrl.protocol.outlines import Encoder


@pytest.fixture
def encodings(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages that were encoded in full."""
    encoded: list[Message] = []
    encode = wire.encode

    def note(message: Message) -> bytes:
        encoded.append(message)
        return encode(message)

    monkeypatch.setattr(wire, "encode", note)
    return encoded


def _message(kind: str, n: int, value: float, *, names: list[str], dtype: Any) -> Message:
    index = np.arange(n)
    column = np.full((n, 2), value, dtype)
    image = np.full((n, 1, 2, 3), value, np.uint8)
    obs = Observation({"cam": image}, dict.fromkeys(names, column), np.array(["go"] * n))
    flags = np.full(n, value > 2)
    match kind:
        case "infer":
            return Infer(obs, index, index)
        case "reusing":
            return Infer(obs.rows(slice(0, 0)), index, index, np.ones(n, np.bool_))
        case "action":
            return Action(index, np.full((1, n, 2), value, dtype))
        case _:
            info = {"episode": {"r": column[:, 0]}} if value == 3 else {}
            return Feedback(index, index, obs, column[:, 0].copy(), flags, ~flags, info)


MESSAGES = st.builds(
    _message,
    st.sampled_from(["infer", "reusing", "action", "feedback"]),
    st.integers(0, 3),
    st.integers(0, 4).map(float),
    names=st.sampled_from([[], ["a"], ["a", "b"], ["b", "a"]]),
    dtype=st.sampled_from([np.float32, np.float64, np.dtype(">f4")]),
)


@given(st.lists(MESSAGES, min_size=2, max_size=12))
def test_whatever_came_before_a_frame_is_the_same(messages: list[Message]) -> None:
    encoder = Encoder()
    for message in messages:
        assert encoder.encode(message) == wire.encode(message)


@given(st.lists(st.tuples(MESSAGES, st.booleans()), min_size=2, max_size=12))
def test_whatever_came_before_an_infer_that_reuses_all_is_the_same(
    messages: list[tuple[Message, bool]],
) -> None:
    encoder = Encoder()
    observations = [message.obs for message, _ in messages if isinstance(message, Feedback)]
    for message, of_the_latest in messages:
        encoder.encode(message)
        obs = message.obs if isinstance(message, Feedback) and of_the_latest else None
        for echoed in observations if obs is None else [obs]:
            assert echoed is not None
            ids = np.arange(len(echoed)) + len(observations)
            infer = Infer(echoed.rows(slice(0, 0)), ids, ids, np.ones(len(ids), np.bool_))
            assert encoder.encode_echo(echoed, ids, ids) == wire.encode(infer)


def test_an_infer_that_reuses_all_is_encoded_in_full_once(
    make_feedback: Callable[..., Feedback], encodings: list[Message]
) -> None:
    encoder = Encoder()
    for step in range(4):
        feedback = make_feedback([0, 1], [5.0, 6.0], step_ids=np.array([step, step]))
        encoder.encode(feedback)
        assert feedback.obs is not None
        frame = encoder.encode_echo(feedback.obs, feedback.env_indices, feedback.step_ids)
        infer = wire.decode(frame)
        assert isinstance(infer, Infer)
        assert infer.step_ids.tolist() == [step, step]
    # The first feedback has no outline yet that the first infer could be an echo of.
    assert [type(message) for message in encodings] == [Feedback, Infer]


@pytest.mark.parametrize("ids", [np.array([3, 4], np.int32), np.array([0, 2])])
def test_an_infer_that_reuses_all_is_of_the_envs_and_ids_that_it_is_told(
    ids: Any, make_feedback: Callable[..., Feedback]
) -> None:
    encoder = Encoder()
    feedback = make_feedback([0, 1], [5.0, 6.0])
    assert feedback.obs is not None
    for indices in (feedback.env_indices, feedback.env_indices, ids):
        encoder.encode(feedback)
        infer = Infer(feedback.obs.rows(slice(0, 0)), indices, ids, np.ones(2, np.bool_))
        assert encoder.encode_echo(feedback.obs, indices, ids) == wire.encode(infer)


def test_other_numbers_in_the_same_outline_are_not_encoded_anew(
    make_feedback: Callable[..., Feedback], encodings: list[Message]
) -> None:
    encoder = Encoder()
    for step in range(3):
        rewards = np.array([step, -step], np.float32)
        feedback = make_feedback([0, 1], [5.0, 6.0], done=(step % 2,), rewards=rewards)
        assert repr(wire.decode(encoder.encode(feedback))) == repr(feedback)
    assert len(encodings) == 1


def test_other_text_is_encoded_anew_and_refused_where_it_has_to_be(
    make_infer: Callable[..., Infer],
) -> None:
    encoder = Encoder()
    infer = make_infer([0], [1.0])
    encoder.encode(infer)
    bad = replace(infer, obs=Observation({}, infer.obs.states, np.array(["\ud800 1.0"])))
    for _ in range(2):
        with pytest.raises(CodecError):
            encoder.encode(bad)


def test_indices_of_another_integer_type_are_sent_as_int64(
    make_infer: Callable[..., Infer],
) -> None:
    encoder = Encoder()
    infer = make_infer([0, 1], [1.0, 2.0])
    narrow = replace(infer, env_indices=infer.env_indices.astype(np.int32))
    for _ in range(2):
        assert encoder.encode(narrow) == wire.encode(infer)


def test_arrays_that_lie_scattered_in_memory_are_gathered() -> None:
    encoder = Encoder()
    whole = np.arange(12.0).reshape(1, 3, 4)
    for action in (whole, whole[:, :, ::-1], np.asfortranarray(whole)):
        message = Action(np.arange(3), action)
        assert encoder.encode(message) == wire.encode(message)


def test_what_a_greeting_says_may_change() -> None:
    encoder = Encoder()
    for data in ({"a": 1}, {"a": 2}):
        assert encoder.encode(Metadata(data)) == wire.encode(Metadata(data))
