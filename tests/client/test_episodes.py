import math

import numpy as np
import pytest

from plugrl.client.episodes import EVERYONE, EpisodeCounts
from plugrl.envs.base import StepResult
from plugrl.protocol.messages import Observation


def result(rewards, **info):
    n = len(rewards)
    no = np.zeros(n, np.bool_)
    obs = Observation({}, {}, np.full(n, ""))
    return StepResult(obs, np.array(rewards), no, no, {k: np.array(v) for k, v in info.items()})


def test_each_env_has_its_own_return_length_and_success():
    counts = EpisodeCounts(3)
    counts.start(np.arange(3))
    counts.step(EVERYONE, result([1.0, 2.0, 4.0], success=[True, False, True]))
    counts.step(np.array([1, 2]), result([0.5, -1.0], success=[True, False]))

    info = counts.report(np.array([True, True, False]))

    episode = {name: column.tolist() for name, column in info["episode"].items()}
    assert episode == {
        "r": [1.0, 2.5, 0.0],
        "l": [1, 2, 0],
        "s": [True, True, False],
        "mask": [True, True, False],
    }
    assert counts.num_steps == 5


def test_nothing_is_reported_while_no_episode_ends():
    assert EpisodeCounts(2).report(np.zeros(2, np.bool_)) == {}


def test_a_new_episode_counts_from_zero_and_leaves_the_others_alone():
    counts = EpisodeCounts(2)
    counts.step(EVERYONE, result([1.0, 1.0]))
    counts.end_chunk()
    counts.start(np.array([1]))
    counts.step(EVERYONE, result([1.0, 5.0]))
    episode = counts.report(np.ones(2, np.bool_))["episode"]
    assert (episode["r"].tolist(), episode["l"].tolist()) == ([2.0, 5.0], [2, 1])
    assert counts.chunks.tolist() == [1, 0]


def test_returns_are_summed_in_float64():
    counts = EpisodeCounts(1)
    for _ in range(1000):
        counts.step(EVERYONE, result([0.1]))
    episode = counts.report(np.ones(1, np.bool_))["episode"]
    assert math.isclose(episode["r"][0], 100.0, rel_tol=1e-12)
    assert episode["r"].dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble])
def test_returns_are_float64_whatever_the_rewards_are(dtype):
    counts = EpisodeCounts(2)
    counts.step(EVERYONE, result(np.ones(2, dtype)))
    assert counts.report(np.ones(2, np.bool_))["episode"]["r"].dtype == np.float64


@pytest.mark.parametrize("rewards", [np.ones((2, 1)), np.ones(3), np.ones(2, complex)])
def test_rewards_of_another_shape_or_kind_are_refused_at_once(rewards):
    with pytest.raises((TypeError, ValueError)):
        EpisodeCounts(2).step(EVERYONE, result(rewards))


def test_chunk_counts_that_were_handed_out_do_not_change():
    counts = EpisodeCounts(2)
    before = counts.chunks
    counts.end_chunk()
    assert (before.tolist(), counts.chunks.tolist()) == ([0, 0], [1, 1])


def test_the_mean_return_is_that_of_the_last_hundred_episodes():
    counts = EpisodeCounts(1)
    assert math.isnan(counts.mean_return)
    for reward in [1000.0] * 5 + [1.0, 3.0] * 50:
        counts.start(np.array([0]))
        counts.step(EVERYONE, result([reward]))
        counts.report(np.ones(1, np.bool_))
    assert counts.mean_return == 2.0
