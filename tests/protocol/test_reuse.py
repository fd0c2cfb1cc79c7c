"""The rules of ``reuse-feedback-obs`` on the server's side, one by one."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from plugrl.errors import InvalidMessageError
from plugrl.protocol import wire
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Feedback,
    Infer,
    Message,
    Metadata,
    Observation,
)
from plugrl.protocol.session import ServerSession

MakeInfer = Callable[..., Infer]
MakeFeedback = Callable[..., Feedback]


@pytest.fixture
def start(make_infer: MakeInfer) -> Callable[..., ServerSession]:
    """A session that took the given feedbacks, and to which an infer is due."""

    def make(*feedbacks: Feedback) -> ServerSession:
        session = ServerSession(Metadata({"features": [REUSE_FEEDBACK_OBS]}), max_envs=100)
        session.greet()
        for feedback in feedbacks:
            session.receive(wire.encode(make_infer([0], [0.0])))
            session.act(np.zeros((1, 1, 1)))
            session.receive(wire.encode(feedback))
        return session

    return make


def _states(session: ServerSession, message: Message) -> list[float]:
    infer = session.receive(wire.encode(message))
    assert isinstance(infer, Infer)
    assert len(infer.obs) == len(infer.env_indices)
    assert [f"row {value}" for value in infer.obs.states["s"].ravel()] == infer.obs.text.tolist()
    return [float(value) for value in infer.obs.states["s"].ravel()]


def test_all_rows_are_reused(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    session = start(make_feedback([4, 2, 7], [40.0, 20.0, 70.0]))
    assert _states(session, make_infer([7, 4], [], [True, True])) == [70.0, 40.0]


def test_reused_and_sent_rows_are_in_the_order_of_env_indices(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    session = start(make_feedback([1, 2, 3], [10.0, 20.0, 30.0]))
    infer = make_infer([5, 3, 4, 1, 2], [5.0, 4.0, 2.0], [False, True, False, True, False])
    assert _states(session, infer) == [5.0, 30.0, 4.0, 10.0, 2.0]


def test_rows_come_from_the_last_feedback_of_each_env(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    session = start(make_feedback([1, 2], [10.0, 20.0]), make_feedback([2, 3], [21.0, 31.0]))
    assert _states(session, make_infer([1, 2, 3], [], [True] * 3)) == [10.0, 21.0, 31.0]


def test_a_row_may_be_reused_more_than_once(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    session = start(make_feedback([1], [10.0]))
    for _ in range(2):
        assert _states(session, make_infer([1], [], [True])) == [10.0]
        session.act(np.zeros((1, 1, 1)))
        session.receive(wire.encode(make_feedback([], [])))


@pytest.mark.parametrize("flag", ["terminated", "truncated"])
def test_reuse_after_a_done_row_is_refused(
    flag: str,
    start: Callable[..., ServerSession],
    make_infer: MakeInfer,
    make_feedback: MakeFeedback,
) -> None:
    feedback = make_feedback([1, 2], [10.0, 20.0], **{flag: np.array([True, False])})
    session = start(make_feedback([1], [9.0]), feedback)
    assert _states(session, make_infer([2], [], [True])) == [20.0]
    with pytest.raises(InvalidMessageError, match=r"no reuse for env 1.* at \$\.reuse"):
        start(feedback).receive(wire.encode(make_infer([2, 1], [], [True, True])))


def test_reuse_without_feedback_on_this_connection_is_refused(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    start(make_feedback([1], [10.0]))
    with pytest.raises(InvalidMessageError, match="no reuse for env 1"):
        start().receive(wire.encode(make_infer([1], [], [True])))


def test_a_feedback_that_cannot_be_split_makes_its_envs_not_reusable_until_the_next(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    whole = make_feedback([1, 2], [10.0, 20.0])
    broken = make_feedback([1], [11.0, 12.0])
    with pytest.raises(InvalidMessageError, match="no reuse for env 1"):
        start(whole, broken).receive(wire.encode(make_infer([1], [], [True])))
    assert _states(start(whole, broken), make_infer([2], [], [True])) == [20.0]
    mended = start(whole, broken, make_feedback([1], [13.0]))
    assert _states(mended, make_infer([1], [], [True])) == [13.0]


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0]])
def test_a_wrong_number_of_rows_is_refused(
    values: list[float],
    start: Callable[..., ServerSession],
    make_infer: MakeInfer,
    make_feedback: MakeFeedback,
) -> None:
    session = start(make_feedback([1], [10.0]))
    with pytest.raises(InvalidMessageError, match="rows"):
        session.receive(wire.encode(make_infer([1, 2, 3], values, [True, False, False])))


def test_images_that_only_some_rows_have_are_left_out(
    start: Callable[..., ServerSession],
    make_obs: Callable[..., Observation],
    make_infer: MakeInfer,
    make_feedback: MakeFeedback,
) -> None:
    session = start(make_feedback([1], [10.0], obs=make_obs(10.0, images=("cam", "extra"))))
    obs = make_obs(2.0, images=("other", "cam"))
    sent = make_infer([2, 1], [0.0], [False, True])
    infer = session.receive(
        wire.encode(Infer(obs, sent.env_indices, sent.step_ids, sent.reuse)),
    )
    assert isinstance(infer, Infer)
    assert list(infer.obs.images) == ["cam"]
    assert infer.obs.images["cam"][:, 0, 0, 0].tolist() == [2, 10]


@pytest.mark.parametrize("states", [{"t": np.zeros((1, 1))}, {"s": np.zeros((1, 2))}, {}])
def test_rows_that_do_not_go_together_are_refused(
    states: dict[str, np.ndarray],
    start: Callable[..., ServerSession],
    make_infer: MakeInfer,
    make_feedback: MakeFeedback,
) -> None:
    session = start(make_feedback([1], [10.0]))
    sent = make_infer([2, 1], [0.0], [False, True])
    obs = Observation({}, states, np.array(["a"]))
    with pytest.raises(InvalidMessageError, match="like those of the last feedback"):
        session.receive(wire.encode(Infer(obs, sent.env_indices, sent.step_ids, sent.reuse)))


def test_the_memory_holds_one_feedback_per_env_at_most(
    start: Callable[..., ServerSession], make_feedback: MakeFeedback, make_infer: MakeInfer
) -> None:
    session = start()
    infer = wire.encode(make_infer([0], [0.0]))
    obs = Observation({"cam": np.zeros((1, 64, 64, 3), np.uint8)}, {}, np.array([""]))
    feedback = wire.encode(make_feedback([0], [0.0], obs=obs))
    tracemalloc.start()
    for _ in range(200):
        session.receive(infer)
        session.act(np.zeros((1, 1, 1)))
        session.receive(feedback)
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert current < 5 * obs.images["cam"].nbytes


def test_one_long_reused_text_cannot_claim_memory_for_many_rows(
    start: Callable[..., ServerSession], make_infer: MakeInfer, make_feedback: MakeFeedback
) -> None:
    long = Observation({}, {"s": np.zeros((1, 1))}, np.array(["a" * 2**16]))
    session = ServerSession(Metadata({"features": [REUSE_FEEDBACK_OBS]}), max_envs=10_000)
    session.greet()
    session.receive(wire.encode(make_infer([0], [0.0])))
    session.act(np.zeros((1, 1, 1)))
    session.receive(wire.encode(make_feedback([0], [0.0], obs=long)))
    n = 2_000
    many = make_infer(list(range(n)), [0.0] * (n - 1), [True] + [False] * (n - 1))
    with pytest.raises(InvalidMessageError, match="bytes as an array"):
        session.receive(wire.encode(many))
