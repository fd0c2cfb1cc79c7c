from collections.abc import Callable

import numpy as np

from plugrl.data.first_episodes import LOST_AFTER_FRAMES, FirstEpisodes
from plugrl.data.frames import Frames

MakeFrames = Callable[..., Frames]


def returns(first: FirstEpisodes) -> list[float]:
    return [episode.episode_return for episode in first.finished()]


def test_rewards_add_up_to_returns_and_frames_to_lengths(make_frames: MakeFrames) -> None:
    first = FirstEpisodes(2)
    first.add(make_frames([1, 2], [1, 10]))
    first.add(make_frames([1, 2], [2, 20], done=[1, 0]))
    first.add(make_frames([2], [30], done=[1]))
    assert returns(first) == [3, 60]
    assert [episode.length for episode in first.finished()] == [2, 3]
    assert first.complete


def test_a_short_episode_that_started_late_does_not_push_out_a_long_one(
    make_frames: MakeFrames,
) -> None:
    first = FirstEpisodes(2)
    first.add(make_frames([1, 2], [1, 1], done=[1, 0]))
    for _ in range(5):
        first.add(make_frames([1, 2], [1, 1], done=[1, 0]))
        assert not first.complete
    first.add(make_frames([1, 2], [1, 1], done=[1, 1]))
    assert returns(first) == [1, 7]


def test_biased_lengths_do_not_bias_the_mean(make_frames: MakeFrames) -> None:
    """Episodes pay their length, 1 or 9; the first to finish would mostly be short."""
    rng = np.random.default_rng(0)
    means = []
    for _ in range(200):
        first = FirstEpisodes(8)
        left = rng.choice([1, 9], size=4)
        while not first.complete:
            left -= 1
            first.add(make_frames([0, 1, 2, 3], [1] * 4, done=(left == 0).astype(int).tolist()))
            left[left == 0] = rng.choice([1, 9], size=int((left == 0).sum()))
        means.append(np.mean(returns(first)))
    assert abs(np.mean(means) - 5) < 0.3


def test_the_clients_own_statistics_come_first(make_frames: MakeFrames) -> None:
    first = FirstEpisodes(2)
    report = {"r": np.array([0.5, 5.5]), "l": np.array([4, 40]), "s": np.array([False, True])}
    first.add(make_frames([7, 8], [1, 1], done=[1, 1], info={"episode": report}))
    assert [(e.episode_return, e.length, e.success) for e in first.finished()] == [
        (0.5, 4, False),
        (5.5, 40, True),
    ]


def test_a_masked_report_is_not_taken(make_frames: MakeFrames) -> None:
    first = FirstEpisodes(1)
    report = {"r": np.array([5.5]), "mask": np.array([False])}
    first.add(make_frames([7], [1], done=[1], info={"episode": report}))
    assert returns(first) == [1]


def test_an_env_that_is_gone_gives_its_place_to_a_later_episode(make_frames: MakeFrames) -> None:
    first = FirstEpisodes(2)
    first.add(make_frames([1, 2], [1, 1], done=[0, 1]))
    for _ in range(2 * LOST_AFTER_FRAMES + 1):
        first.add(make_frames([2], [3], done=[1]))
    assert first.complete
    assert returns(first) == [1, 3]
