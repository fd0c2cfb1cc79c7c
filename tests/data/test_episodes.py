import json

import numpy as np
import pytest

from plugrl.data.episodes import EpisodeStats


def test_only_frames_that_are_done_count() -> None:
    stats = EpisodeStats()
    info = {"episode": {"r": np.array([1.0, 2.0, 9.0]), "l": np.array([10, 20, 90])}}
    assert stats.record(info, np.array([True, True, False])) == 2
    assert stats.metrics() == {
        "rollout/episode_return_mean": 1.5,
        "rollout/episode_length_mean": 15.0,
        "rollout/num_episodes": 2.0,
    }


def test_the_mask_leaves_episodes_out() -> None:
    stats = EpisodeStats()
    info = {"episode": {"r": np.array([1.0, 2.0]), "mask": np.array([False, True])}}
    assert stats.record(info, np.array([True, True])) == 1
    assert list(stats.returns) == [2.0]


def test_the_success_rate_is_left_out_until_the_first_success() -> None:
    stats = EpisodeStats(window=4)
    for success in (False, False, True, False):
        stats.record({"episode": {"r": np.zeros(1), "s": np.array([success])}}, np.ones(1, bool))
        assert ("rollout/success_rate" in stats.metrics()) == (len(stats.successes) >= 3)
    assert stats.metrics()["rollout/success_rate"] == 0.25


def test_a_success_that_left_the_window_is_remembered_also_by_a_later_run() -> None:
    stats, later, older = EpisodeStats(window=1), EpisodeStats(window=1), EpisodeStats(window=1)
    for success in (True, False):
        stats.record({"episode": {"r": np.zeros(1), "s": np.array([success])}}, np.ones(1, bool))
    state = stats.state()
    later.load_state(state)
    assert later.metrics()["rollout/success_rate"] == 0.0
    del state["any_success"]
    older.load_state(state)
    assert "rollout/success_rate" not in older.metrics()


def test_successes_are_averaged_where_they_are_reported() -> None:
    stats = EpisodeStats()
    stats.record({"episode": {"r": np.zeros(2), "s": np.array([True, False])}}, np.ones(2, bool))
    assert stats.metrics()["rollout/success_rate"] == 0.5


def test_info_without_an_episode_is_no_episode() -> None:
    stats = EpisodeStats()
    assert stats.record({}, np.array([True])) == 0
    assert stats.record({"episode": "?"}, np.array([True])) == 0
    assert stats.metrics() == {}


def test_means_are_over_the_latest_episodes_and_the_count_over_all() -> None:
    stats = EpisodeStats(window=2)
    for episode_return in (1.0, 2.0, 4.0):
        stats.record({"episode": {"r": np.array([episode_return])}}, np.array([True]))
    assert stats.metrics()["rollout/episode_return_mean"] == 3.0
    assert stats.metrics()["rollout/num_episodes"] == 3.0


def test_its_state_is_json_and_comes_back() -> None:
    first, second = EpisodeStats(), EpisodeStats()
    first.record({"episode": {"r": np.array([0.1]), "l": np.array([3])}}, np.array([True]))
    second.load_state(json.loads(json.dumps(first.state())))
    assert second.metrics() == first.metrics()


@pytest.mark.parametrize(
    ("returns", "lengths"),
    [
        ([np.nan, 3.0, np.inf], [1, 2, 3]),
        ([1e308, 3.0, -1e39], [1, 2, 3]),
        ([1.0, 3.0, 1.0], [-1, 2, 2**63]),
    ],
    ids=["not finite", "no float32", "no lengths"],
)
def test_an_episode_that_cannot_be_is_left_out(returns: list[float], lengths: list[int]) -> None:
    stats = EpisodeStats()
    episode = {"r": np.array(returns), "l": np.array(lengths)}
    assert stats.record({"episode": episode}, np.ones(3, bool)) == 1
    assert stats.metrics()["rollout/episode_return_mean"] == 3.0
    assert stats.metrics()["rollout/episode_length_mean"] == 2.0
