import json

import numpy as np
import pytest

from plugrl.data.reward_scale import RewardScaler


def scaler(clip: float = 10.0) -> RewardScaler:
    return RewardScaler(gamma=0.5, clip=clip)


def update(
    scaler: RewardScaler,
    rewards: list[float],
    *,
    streams: list[int] | None = None,
    sequence: list[int] | None = None,
    done: list[int] | None = None,
) -> None:
    n = len(rewards)
    scaler.update(
        np.array(streams or [0] * n),
        np.array(sequence or range(n)),
        np.array(rewards),
        np.array(done or [0] * n, dtype=bool),
    )


def test_the_deviation_is_that_of_the_discounted_return() -> None:
    it = scaler()
    update(it, [4.0, 4.0, 4.0])
    deviation = np.std([4.0, 6.0, 7.0])  # G: 4, 2 + 4, 3 + 4
    np.testing.assert_allclose(it.scale(np.array([1.0])), 1 / deviation, rtol=1e-3)


def test_the_return_goes_back_to_zero_after_an_episodes_last_frame() -> None:
    it = scaler()
    update(it, [4.0, 4.0, 4.0], done=[0, 1, 0])
    np.testing.assert_allclose(it.moments.mean, np.mean([4.0, 6.0, 4.0]), rtol=1e-3)


def test_each_stream_has_a_return_of_its_own() -> None:
    it = scaler()
    update(it, [4.0, 4.0, 2.0, 2.0], streams=[1, 1, 2, 2], sequence=[0, 1, 0, 1])
    assert it.running[1].value == 6.0
    assert it.running[2].value == 3.0


def test_the_return_goes_on_in_the_next_rollout() -> None:
    it = scaler()
    update(it, [4.0, 4.0], sequence=[0, 1])
    update(it, [4.0], sequence=[2])
    assert it.running[0].value == 7.0


def test_missing_frames_count_as_frames_without_reward() -> None:
    it = scaler()
    update(it, [4.0], sequence=[0])
    update(it, [4.0], sequence=[3])
    assert it.running[0].value == 4.5


def test_streams_that_gave_nothing_to_a_rollout_are_forgotten() -> None:
    it = scaler()
    update(it, [4.0, 4.0], streams=[1, 2], sequence=[0, 0])
    update(it, [4.0], streams=[2], sequence=[1])
    assert set(it.running) == {2}


def test_a_stream_that_starts_again_from_a_lower_number_starts_from_zero() -> None:
    it = scaler()
    update(it, [4.0], sequence=[9])
    update(it, [4.0], sequence=[0])
    assert it.running[0].value == 4.0


def test_scaled_rewards_are_clipped_and_not_centred() -> None:
    it = scaler(clip=1.5)
    update(it, [2.0, 2.0, 2.0, 2.0], done=[1, 1, 1, 1])
    assert it.scale(np.array([-1e9, 0.0, 1e9])).tolist() == [-1.5, 0.0, 1.5]


def test_it_goes_on_from_its_state_to_the_last_bit() -> None:
    first, second = scaler(), scaler()
    update(first, [0.1, 0.7, 0.3], streams=[3, 3, 4], sequence=[0, 1, 5])
    second.load_state(json.loads(json.dumps(first.state())))
    for it in (first, second):
        update(it, [0.9, 0.2], streams=[3, 4], sequence=[2, 6])
    assert first.state() == second.state()
    assert first.scale(np.array([1 / 3])) == second.scale(np.array([1 / 3]))


@pytest.mark.parametrize("num_frames", [1, 5])
def test_rewards_that_never_vary_stay_bounded(num_frames: int) -> None:
    it = scaler()
    update(it, [0.0] * num_frames)
    assert it.scale(np.zeros(3)).tolist() == [0, 0, 0]
