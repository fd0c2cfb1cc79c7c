import numpy as np
from numpy.typing import NDArray

from plugrl.data.advantages import continuations, gae


def bools(*values: int) -> NDArray[np.bool_]:
    return np.array(values, dtype=bool)


def advantages(terminated: NDArray[np.bool_], continues: NDArray[np.bool_]) -> list[float]:
    result: list[float] = gae(
        rewards=np.array([1.0, 2.0, 3.0]),
        values=np.array([10.0, 20.0, 30.0]),
        next_values=np.array([20.0, 30.0, 40.0]),
        terminated=terminated,
        continues=continues,
        gamma=0.5,
        gae_lambda=0.5,
    ).tolist()
    return result


def test_an_episode_that_goes_on_by_hand() -> None:
    # deltas: 1 + 10 - 10 = 1, 2 + 15 - 20 = -3, 3 + 20 - 30 = -7; decay 0.25
    assert advantages(bools(0, 0, 0), bools(1, 1, 0)) == [1 - 4.75 / 4, -3 - 7 / 4, -7]


def test_a_terminated_frame_has_no_value_after_it() -> None:
    # delta_1 = 2 - 20 = -18
    assert advantages(bools(0, 1, 0), bools(1, 0, 0)) == [1 - 18 / 4, -18, -7]


def test_a_truncated_frame_keeps_the_value_of_its_terminal_observation() -> None:
    assert advantages(bools(0, 0, 0), bools(1, 0, 0)) == [1 - 3 / 4, -3, -7]


def test_it_equals_the_definition_on_random_streams() -> None:
    rng = np.random.default_rng(0)
    n = 200
    rewards, values, next_values = rng.normal(size=(3, n))
    terminated = rng.random(n) < 0.1
    continues = (rng.random(n) < 0.8) & ~terminated
    continues[-1] = False
    got = gae(
        rewards,
        values,
        next_values,
        terminated=terminated,
        continues=continues,
        gamma=0.9,
        gae_lambda=0.8,
    )
    for t in range(n):
        expected, weight, k = 0.0, 1.0, t
        while True:
            bootstrap = 0.0 if terminated[k] else 0.9 * next_values[k]
            expected += weight * (rewards[k] + bootstrap - values[k])
            if not continues[k]:
                break
            weight *= 0.9 * 0.8
            k += 1
        np.testing.assert_allclose(got[t], expected)


def test_a_row_continues_into_the_next_number_of_its_stream() -> None:
    streams = np.array([1, 1, 2, 2])
    sequence = np.array([7, 8, 9, 10])
    assert continuations(streams, sequence, bools(0, 0, 0, 0)).tolist() == [1, 0, 1, 0]


def test_a_row_does_not_continue_where_its_episode_is_done() -> None:
    assert continuations(np.array([1, 1]), np.array([7, 8]), bools(1, 0)).tolist() == [0, 0]


def test_a_row_does_not_continue_over_a_missing_frame() -> None:
    streams, sequence = np.array([1, 1, 1]), np.array([7, 9, 10])
    assert continuations(streams, sequence, bools(0, 0, 0)).tolist() == [0, 1, 0]
