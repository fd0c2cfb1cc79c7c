"""Frames that look like earlier ones are decoded exactly as a full parse decodes them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrl.errors import InvalidMessageError
from plugrl.protocol import wire
from plugrl.protocol.forms import MAX_FORM_BYTES, MAX_FORMS, Decoder, find_arrays, form_of
from plugrl.protocol.messages import Action, Feedback, Infer, Message

GOLDEN_WITH_FORMS = ["infer", "infer-reuse", "action", "feedback"]


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The frames that were parsed in full."""
    parsed: list[bytes] = []
    parse = wire.decode

    def decode(frame: bytes | bytearray | memoryview) -> Message:
        parsed.append(bytes(frame))
        return parse(frame)

    monkeypatch.setattr(wire, "decode", decode)
    return parsed


@pytest.mark.parametrize("name", GOLDEN_WITH_FORMS)
def test_a_frame_that_came_before_is_not_parsed_again(
    name: str, golden: Callable[[str], bytes], parses: list[bytes]
) -> None:
    decoder = Decoder()
    messages = [decoder.decode(golden(name)) for _ in range(3)]
    assert len(parses) == 1
    assert repr(messages[1]) == repr(messages[2]) == repr(messages[0])


def test_other_numbers_in_the_same_form_are_read(
    make_feedback: Callable[..., Feedback], parses: list[bytes]
) -> None:
    decoder = Decoder()
    for step in range(3):
        feedback = make_feedback(
            [0, 1],
            [1.0, 2.0],
            rewards=np.array([step, -step], dtype=np.float32),
            step_ids=np.array([step, 7]),
            terminated=np.array([step == 1, False]),
            info={"episode": {"r": np.array([step, 0.0])}},
        )
        decoded = decoder.decode(wire.encode(feedback))
        assert repr(decoded) == repr(feedback)
    assert len(parses) == 1


@pytest.mark.many_examples
@pytest.mark.parametrize("name", GOLDEN_WITH_FORMS)
def test_whatever_byte_changes_the_outcome_is_that_of_a_full_parse(
    name: str, golden: Callable[[str], bytes]
) -> None:
    frame = golden(name)
    for at in range(len(frame)):
        for byte in (0x00, 0x02, 0x7F, 0x90, 0xC0, 0xFF):
            decoder = Decoder()
            decoder.decode(frame)
            changed = frame[:at] + bytes([byte]) + frame[at + 1 :]
            assert _outcome(decoder.decode, changed) == _outcome(wire.decode, changed)


def _outcome(decode: Callable[[bytes], Message], frame: bytes) -> str:
    try:
        return repr(decode(frame))
    except Exception as error:  # noqa: BLE001 - the two outcomes are compared, whatever they are
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_not_finite_is_refused_in_a_known_form(
    reward: float, make_feedback: Callable[..., Feedback]
) -> None:
    decoder = Decoder()
    decoder.decode(wire.encode(make_feedback([0], [0.0])))
    frame = wire.encode(make_feedback([0], [0.0], rewards=np.array([reward], dtype=np.float32)))
    with pytest.raises(InvalidMessageError, match=r"\$\.data\.rewards\[0\]"):
        decoder.decode(frame)


def test_flags_that_ask_for_another_number_of_rows_are_checked_in_full(
    make_infer: Callable[..., Infer],
) -> None:
    decoder = Decoder()
    decoder.decode(wire.encode(make_infer([0, 1], [0.0], reuse=[True, False])))
    other = decoder.decode(wire.encode(make_infer([0, 1], [0.0], reuse=[False, True])))
    assert isinstance(other, Infer)
    assert other.reuse is not None
    assert other.reuse.tolist() == [False, True]
    with pytest.raises(InvalidMessageError, match="rows"):
        decoder.decode(wire.encode(make_infer([0, 1], [0.0], reuse=[False, False])))


def test_no_row_may_come_with_a_flag_that_asks_for_one(make_infer: Callable[..., Infer]) -> None:
    decoder = Decoder()
    frame = wire.encode(make_infer([0, 1], [], reuse=[True, True]))
    known = [decoder.decode(frame) for _ in range(2)]
    assert repr(known[1]) == repr(known[0])
    (flags,) = (slot for slot in find_arrays(frame) if slot.path == ("reuse",))
    for wrong in (b"\0\1", b"\1\0", b"\0\0"):
        with pytest.raises(InvalidMessageError, match="rows"):
            decoder.decode(frame[: flags.start] + wrong + frame[flags.stop :])


def test_other_env_indices_or_text_are_parsed(
    make_infer: Callable[..., Infer], parses: list[bytes]
) -> None:
    decoder = Decoder()
    for envs, value in (([0, 1], 1.0), ([0, 2], 1.0), ([0, 2], 2.0)):
        infer = make_infer(envs, [value, value])
        assert repr(decoder.decode(wire.encode(infer))) == repr(infer)
    assert len(parses) == 3


def test_equal_env_indices_are_one_array(
    make_infer: Callable[..., Infer], make_feedback: Callable[..., Feedback]
) -> None:
    decoder = Decoder()
    infer = decoder.decode(wire.encode(make_infer([3, 1], [0.0, 0.0])))
    feedback = decoder.decode(wire.encode(make_feedback([3, 1], [0.0, 0.0])))
    assert isinstance(infer, Infer)
    assert isinstance(feedback, Feedback)
    assert infer.env_indices is feedback.env_indices


def test_a_connection_remembers_a_bounded_number_of_forms(parses: list[bytes]) -> None:
    decoder = Decoder()
    frames = [wire.encode(Action(None, np.zeros((1, 1, k)))) for k in range(MAX_FORMS + 1)]
    for frame in frames:
        decoder.decode(frame)
    parses.clear()
    decoder.decode(frames[-1])
    assert not parses
    decoder.decode(frames[0])
    assert len(parses) == 1


def test_a_large_form_is_not_remembered(make_infer: Callable[..., Infer]) -> None:
    n = MAX_FORM_BYTES // 8
    infer = make_infer(list(range(n)), [0.0] * n)
    assert form_of(wire.encode(infer), infer) is None


def test_arrays_are_found_with_their_places(golden: Callable[[str], bytes]) -> None:
    frame = golden("feedback")
    found: dict[tuple[str, ...], Any] = {
        slot.path: np.ndarray(slot.shape, slot.dtype, frame, slot.start).tolist()
        for slot in find_arrays(frame)
    }
    assert found == {
        ("env_indices",): [7],
        ("step_ids",): [4],
        ("data", "obs", "states", "s"): [[1.5]],
        ("data", "obs", "text"): ["é"],
        ("data", "rewards"): [1.5],
        ("data", "terminated"): [True],
        ("data", "truncated"): [False],
        ("data", "info", "episode", "r"): [9.0],
        ("data", "info", "episode", "l"): [5],
        ("data", "info", "episode", "s"): [True],
    }
