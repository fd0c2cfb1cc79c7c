"""Whose turn it is, move by move, for both sides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrl.errors import InvalidMessageError, ProtocolError, UnexpectedMessageError
from plugrl.protocol import codec, wire
from plugrl.protocol.messages import (
    REUSE_FEEDBACK_OBS,
    Action,
    Feedback,
    Infer,
    Message,
    Metadata,
)
from plugrl.protocol.session import ClientSession, Due, ServerSession

REUSING = Metadata({"features": [REUSE_FEEDBACK_OBS]})
ACTIONS = np.zeros((2, 1, 3))


@pytest.fixture
def messages(
    make_infer: Callable[..., Infer], make_feedback: Callable[..., Feedback]
) -> dict[Due, Message]:
    """A legal message of each type, about env 0."""
    return {
        Due.METADATA: Metadata(),
        Due.INFER: make_infer([0], [1.0]),
        Due.ACTION: Action(np.array([0]), ACTIONS),
        Due.FEEDBACK: make_feedback([0], [2.0]),
    }


def _server_at(due: Due, messages: dict[Due, Message]) -> ServerSession:
    session = ServerSession(Metadata(), max_envs=8)
    steps = {
        Due.INFER: session.greet,
        Due.ACTION: lambda: session.receive(wire.encode(messages[Due.INFER])),
        Due.FEEDBACK: lambda: session.act(ACTIONS),
    }
    for target, step in steps.items():
        if session.due is due:
            break
        step()
        assert session.due is target
    return session


def _client_at(due: Due, messages: dict[Due, Message]) -> ClientSession:
    session = ClientSession()
    steps = {
        Due.INFER: lambda: session.receive(wire.encode(messages[Due.METADATA])),
        Due.ACTION: lambda: _ask(session, messages[Due.INFER]),
        Due.FEEDBACK: lambda: session.receive(wire.encode(messages[Due.ACTION])),
    }
    for target, step in steps.items():
        if session.due is due:
            break
        step()
        assert session.due is target
    return session


def _ask(session: ClientSession, infer: Any, unchanged: list[bool] | None = None) -> bytes:
    return session.infer(
        infer.obs,
        infer.env_indices,
        infer.step_ids,
        unchanged=None if unchanged is None else np.array(unchanged),
    )


@pytest.mark.parametrize("due", Due)
@pytest.mark.parametrize("sent", Due)
def test_a_server_takes_only_the_infer_or_feedback_that_is_due(
    due: Due, sent: Due, messages: dict[Due, Message]
) -> None:
    session = _server_at(due, messages)
    if due is sent and due in (Due.INFER, Due.FEEDBACK):
        assert isinstance(session.receive(wire.encode(messages[sent])), type(messages[sent]))
        assert session.due is {Due.INFER: Due.ACTION, Due.FEEDBACK: Due.INFER}[due]
    else:
        sentence = f"received {sent.value} while waiting for {due.value}"
        with pytest.raises(UnexpectedMessageError, match=sentence):
            session.receive(wire.encode(messages[sent]))
        assert session.due is due


@pytest.mark.parametrize("due", Due)
@pytest.mark.parametrize("sent", Due)
def test_a_client_takes_only_the_metadata_or_action_that_is_due(
    due: Due, sent: Due, messages: dict[Due, Message]
) -> None:
    session = _client_at(due, messages)
    if due is sent and due in (Due.METADATA, Due.ACTION):
        assert isinstance(session.receive(wire.encode(messages[sent])), type(messages[sent]))
        assert session.due is {Due.METADATA: Due.INFER, Due.ACTION: Due.FEEDBACK}[due]
    else:
        sentence = f"received {sent.value} while waiting for {due.value}"
        with pytest.raises(UnexpectedMessageError, match=sentence):
            session.receive(wire.encode(messages[sent]))
        assert session.due is due


@pytest.mark.parametrize("due", Due)
def test_a_server_sends_only_what_is_due(due: Due, messages: dict[Due, Message]) -> None:
    moves = {Due.METADATA: ServerSession.greet, Due.ACTION: lambda s: s.act(ACTIONS)}
    for sent, move in moves.items():
        session = _server_at(due, messages)
        if due is sent:
            assert isinstance(wire.decode(move(session)), type(messages[sent]))
        else:
            with pytest.raises(UnexpectedMessageError, match=f"can't send {sent.value} while"):
                move(session)


@pytest.mark.parametrize("due", Due)
def test_a_client_sends_only_what_is_due(due: Due, messages: dict[Due, Message]) -> None:
    moves: dict[Due, Callable[[ClientSession], bytes]] = {
        Due.INFER: lambda s: _ask(s, messages[Due.INFER]),
        Due.FEEDBACK: lambda s: s.feedback(messages[Due.FEEDBACK]),  # type: ignore[arg-type]
    }
    for sent, move in moves.items():
        session = _client_at(due, messages)
        if due is sent:
            assert isinstance(wire.decode(move(session)), type(messages[sent]))
        else:
            with pytest.raises(UnexpectedMessageError, match=f"can't send {sent.value} while"):
                move(session)


def test_many_cycles_go_through_both_sides(
    make_infer: Callable[..., Infer], make_feedback: Callable[..., Feedback]
) -> None:
    server, client = ServerSession(REUSING, max_envs=8), ClientSession()
    client.receive(server.greet())
    for cycle in range(3):
        infer = server.receive(_ask(client, make_infer([3, 1], [cycle, 9.0])))
        assert isinstance(infer, Infer)
        assert infer.obs.states["s"].ravel().tolist() == [cycle, 9.0]
        action = client.receive(server.act(np.full((2, 2, 1), cycle)))
        assert isinstance(action, Action)
        assert action.env_ids is not None
        assert action.env_ids.tolist() == [3, 1]
        assert action.action.tolist() == [[[cycle], [cycle]]] * 2
        feedback = server.receive(client.feedback(make_feedback([5], [0.5])))
        assert isinstance(feedback, Feedback)
        assert feedback.env_indices.tolist() == [5]


@pytest.mark.parametrize(
    "make_session", [lambda: ServerSession(Metadata(), max_envs=1), ClientSession]
)
def test_a_text_frame_is_a_protocol_error(make_session: Callable[[], Any]) -> None:
    with pytest.raises(ProtocolError, match="expected a binary frame, got text 'boom'"):
        make_session().receive("boom")


def test_env_indices_are_bounded(
    messages: dict[Due, Message],
    make_infer: Callable[..., Infer],
    make_feedback: Callable[..., Feedback],
) -> None:
    session = _server_at(Due.INFER, messages)
    session.receive(wire.encode(make_infer([7, 0], [0.0, 0.0])))
    session.act(np.zeros((1, 2, 1)))
    with pytest.raises(InvalidMessageError, match=r"indices below 8, got 8, at \$.env_indices"):
        session.receive(wire.encode(make_feedback([1, 8], [0.0, 0.0])))


def test_a_client_fills_in_env_ids_that_were_left_out(messages: dict[Due, Message]) -> None:
    session = _client_at(Due.ACTION, messages)
    action = session.receive(wire.encode(Action(None, ACTIONS)))
    assert isinstance(action, Action)
    assert action.env_ids is not None
    assert action.env_ids.tolist() == [0]


@pytest.mark.parametrize(
    "action",
    [
        Action(None, np.zeros((1, 2, 3))),
        Action(np.array([0, 1]), np.zeros((1, 2, 3))),
        Action(np.array([1]), np.zeros((1, 1, 3))),
    ],
)
def test_a_client_refuses_actions_for_other_envs(
    action: Action, messages: dict[Due, Message]
) -> None:
    session = _client_at(Due.ACTION, messages)
    with pytest.raises(InvalidMessageError, match=r"at \$\.data\.(action|env_ids)"):
        session.receive(wire.encode(action))


@pytest.fixture
def after_feedback(
    make_infer: Callable[..., Infer], make_feedback: Callable[..., Feedback]
) -> Callable[..., ClientSession]:
    """A client that sent a feedback for envs 0, 1 and 2, of which 1 is done."""

    def make(metadata: Metadata = REUSING, **kwargs: Any) -> ClientSession:
        session = ClientSession(**kwargs)
        session.receive(wire.encode(metadata))
        _ask(session, make_infer([0], [0.0]))
        session.receive(wire.encode(Action(None, np.zeros((1, 1, 1)))))
        session.feedback(make_feedback([0, 1, 2], [0.0, 1.0, 2.0], done=(1,)))
        return session

    return make


def test_a_client_leaves_out_unchanged_rows_that_the_server_has(
    after_feedback: Callable[..., ClientSession], make_infer: Callable[..., Infer]
) -> None:
    infer = make_infer([0, 1, 2, 3], [10.0, 11.0, 12.0, 13.0])
    fields = codec.unpack(_ask(after_feedback(), infer, unchanged=[True, True, False, True]))
    assert fields["reuse"].tolist() == [True, False, False, False]
    assert fields["data"]["states"]["s"].ravel().tolist() == [11.0, 12.0, 13.0]


def test_leaving_out_rows_saves_their_bytes(
    after_feedback: Callable[..., ClientSession], make_infer: Callable[..., Infer]
) -> None:
    infer = make_infer([0], [1.0])
    obs = type(infer.obs)({"cam": np.zeros((1, 64, 64, 3), np.uint8)}, {}, infer.obs.text)
    frames = [
        after_feedback().infer(obs, infer.env_indices, infer.step_ids, unchanged=np.array([same]))
        for same in (False, True)
    ]
    assert len(frames[0]) - len(frames[1]) > 64 * 64 * 3 - 200


@pytest.mark.parametrize("unchanged", [None, [False] * 3])
def test_a_client_sends_all_rows_that_it_is_not_told_about(
    unchanged: list[bool] | None,
    after_feedback: Callable[..., ClientSession],
    make_infer: Callable[..., Infer],
) -> None:
    fields = codec.unpack(_ask(after_feedback(), make_infer([0, 1, 2], [0, 1, 2]), unchanged))
    assert "reuse" not in fields
    assert len(fields["data"]["text"]) == 3


@pytest.mark.parametrize(
    "kwargs",
    [
        {"metadata": Metadata()},
        {"metadata": Metadata({"features": ["other"]})},
        {"metadata": Metadata({"features": REUSE_FEEDBACK_OBS})},
        {"reuse_feedback_obs": False},
    ],
)
def test_a_client_sends_all_rows_where_reuse_is_not_agreed(
    kwargs: dict[str, Any],
    after_feedback: Callable[..., ClientSession],
    make_infer: Callable[..., Infer],
) -> None:
    fields = codec.unpack(_ask(after_feedback(**kwargs), make_infer([0], [0.0]), [True]))
    assert "reuse" not in fields


def test_a_server_refuses_reuse_that_it_did_not_offer(
    messages: dict[Due, Message], make_infer: Callable[..., Infer]
) -> None:
    session = _server_at(Due.INFER, messages)
    with pytest.raises(InvalidMessageError, match="feature"):
        session.receive(wire.encode(make_infer([0], [], reuse=[True])))


def test_a_reuse_that_is_false_everywhere_needs_no_offer(
    messages: dict[Due, Message], make_infer: Callable[..., Infer]
) -> None:
    session = _server_at(Due.INFER, messages)
    infer = session.receive(wire.encode(make_infer([0], [4.0], reuse=[False])))
    assert isinstance(infer, Infer)
    assert infer.obs.states["s"].tolist() == [[4.0]]
