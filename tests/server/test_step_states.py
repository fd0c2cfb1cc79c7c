"""Step state goes to the first feedback of its env, once, and never after a gap."""

from itertools import count

import numpy as np
import pytest

from plugrl.data.frames import Inference
from plugrl.protocol.messages import Observation
from plugrl.server.step_states import Held, StepStates


def held(n: int, version: int = 0) -> Held:
    obs = Observation({}, {"state": np.zeros((n, 1))}, np.array([""] * n))
    return Held(version, obs, Inference(np.zeros((n, 1, 2))), num_open=n)


def test_a_feedback_for_the_whole_inference_takes_it_whole():
    states = StepStates(count())
    mine = held(3)
    states.hold(np.array([4, 1, 2]), mine)
    (released,) = states.release(np.array([4, 1, 2]))
    assert released.held is mine
    assert released.rows == slice(None)


def test_rows_come_in_the_order_of_the_feedback():
    states = StepStates(count())
    states.hold(np.array([4, 1, 2]), held(3))
    (released,) = states.release(np.array([2, 4]))
    np.testing.assert_array_equal(released.rows, [2, 0])


def test_a_second_feedback_finds_nothing():
    states = StepStates(count())
    states.hold(np.array([0]), held(1))
    states.release(np.array([0]))
    (released,) = states.release(np.array([0]))
    assert released.held is None


def test_a_feedback_over_two_inferences_and_a_stranger_falls_into_three_parts():
    states = StepStates(count())
    first, second = held(2, version=1), held(1, version=2)
    states.hold(np.array([0, 1]), first)
    states.hold(np.array([5]), second)
    parts = {
        id(part.held) if part.held else None: part for part in states.release(np.array([1, 9, 5]))
    }
    np.testing.assert_array_equal(parts[id(first)].positions, [0])
    np.testing.assert_array_equal(parts[id(first)].rows, [1])
    np.testing.assert_array_equal(parts[None].positions, [1])
    np.testing.assert_array_equal(parts[id(second)].positions, [2])


def test_an_env_may_hold_its_action_over_several_cycles():
    states = StepStates(count())
    first = held(2)
    states.hold(np.array([0, 1]), first)
    states.release(np.array([0]))
    states.hold(np.array([0]), held(1))
    (released,) = states.release(np.array([1]))
    assert released.held is first


def test_sequence_counts_feedbacks_and_skips_where_an_action_was_dropped():
    states = StepStates(count())
    envs = np.array([0])
    numbers = []
    for infers in (1, 1, 2):
        for _ in range(infers):
            states.hold(envs, held(1))
        states.release(envs)
        numbers.append(int(states.places(envs)[1][0]))
    assert numbers == [1, 2, 4]


@pytest.mark.parametrize("envs", [[0, 1, 2], [1], [2, 0]])
def test_the_numbers_handed_out_do_not_change_when_envs_go_on(envs: list[int]):
    states = StepStates(count())
    everyone, some = np.arange(3), np.array(envs)
    states.release(everyone)
    sequence = states.places(everyone)[1]
    states.hold(some, held(len(envs)))
    states.hold(some, held(len(envs)))
    states.release(some)
    assert sequence.tolist() == [1, 1, 1]
    assert states.places(some)[1].tolist() == [3] * len(envs)


def test_an_index_array_may_be_used_again_for_other_envs():
    states = StepStates(count())
    envs = np.arange(3)
    states.release(envs)
    states.release(envs)
    in_order = states.places(envs)[0].tolist()
    envs[:] = [2, 1, 0]
    states.release(envs)
    assert states.places(envs)[0].tolist() == in_order[::-1]


def test_streams_are_distinct_and_stay_with_their_env():
    ids = count()
    one, other = StepStates(ids), StepStates(ids)
    for states in (one, other, one):
        states.release(np.array([0, 1, 2]))
    streams = np.concatenate([s.places(np.array([0, 1, 2]))[0] for s in (one, other)])
    assert len(set(streams.tolist())) == 6


def test_what_was_taken_or_dropped_is_not_kept_in_memory():
    states = StepStates(count())
    for _ in range(100):
        states.hold(np.array([0, 1]), held(2))
        states.release(np.array([0]))
    assert len(states._held) == 1


def test_an_empty_inference_is_not_kept():
    states = StepStates(count())
    states.hold(np.empty(0, np.int64), held(0))
    assert states.release(np.empty(0, np.int64)) == []
    assert not states._held


def test_the_bytes_of_observations_count_until_the_last_row_is_gone():
    states = StepStates(count())
    size = held(2).obs.num_bytes
    states.hold(np.array([0, 1]), held(2))
    # Alone it is no more than the message that it came in.
    assert states.num_bytes == 0 < size
    states.hold(np.array([2, 3]), held(2))
    assert states.num_bytes == 2 * size
    states.release(np.array([0]))
    assert states.num_bytes == 2 * size
    states.release(np.array([1, 2, 3]))
    assert states.num_bytes == 0
    # Dropped by an action for the same env, and where there is no env at all.
    for envs in ([0], [0], [], [0, 1]):
        states.hold(np.array(envs, np.int64), held(len(envs)))
    states.release(np.array([0, 1]))
    assert states.num_bytes == 0
