import numpy as np
import pytest

from plugrl.config.probe import ProbeEnvConfig
from plugrl.envs.probe import ProbeEnv
from plugrl.errors import ConfigError, IncompatibleError


def test_env_i_terminates_exactly_after_3_plus_2_times_i_mod_3_steps():
    env = ProbeEnv(ProbeEnvConfig(action_dim=1), 5)
    env.reset(np.arange(5), None)
    lengths = np.zeros(5, int)
    running = np.arange(5)
    for t in range(1, 8):
        result = env.step(running, np.zeros((len(running), 1)))
        assert result.rewards.tolist() == [1.0] * len(running)
        assert not result.truncated.any()
        lengths[running[result.terminated]] = t
        running = running[~result.terminated]
    assert lengths.tolist() == [3, 5, 7, 3, 5]
    assert not len(running)


def test_states_are_the_step_count_and_the_last_action_in_float64():
    env = ProbeEnv(ProbeEnvConfig(action_dim=2), 2)
    obs = env.reset(np.arange(2), None)
    assert (obs.images, obs.text.tolist()) == ({}, ["", ""])
    assert obs.states["t"].tolist() == [[0.0], [0.0]]
    assert obs.states["a"].tolist() == [[0.0, 0.0], [0.0, 0.0]]

    obs = env.step(np.array([1]), np.array([[0.5, -2.0]], np.float32)).obs

    assert {name: state.dtype for name, state in obs.states.items()} == {
        "t": np.float64,
        "a": np.float64,
    }
    assert obs.states["t"].tolist() == [[1.0]]
    assert obs.states["a"].tolist() == [[0.5, -2.0]]


def test_a_reset_forgets_the_last_action():
    env = ProbeEnv(ProbeEnvConfig(action_dim=1), 1)
    env.reset(np.array([0]), None)
    env.step(np.array([0]), np.array([[3.0]]))
    assert env.reset(np.array([0]), None).states["a"].tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("metadata", "width"), [({"action_dim": 4}, 4), ({}, 7), ({"action_dim": "four"}, 7)]
)
def test_the_width_of_actions_is_the_servers_where_it_tells(metadata, width):
    env = ProbeEnv(ProbeEnvConfig(), 2)
    env.greet(metadata)
    assert env.reset(np.arange(2), None).states["a"].shape == (2, width)


def test_a_server_that_told_nothing_sets_the_width_by_its_first_action():
    env = ProbeEnv(ProbeEnvConfig(), 1)
    env.reset(np.array([0]), None)
    assert env.step(np.array([0]), np.ones((1, 3))).obs.states["a"].tolist() == [[1.0] * 3]


def test_a_width_fixed_by_the_config_is_kept_and_another_one_refused():
    env = ProbeEnv(ProbeEnvConfig(action_dim=2), 1)
    env.greet({"action_dim": 3})
    env.reset(np.array([0]), None)
    with pytest.raises(IncompatibleError, match=r"expected actions 2 wide, got 3 from the server"):
        env.step(np.array([0]), np.ones((1, 3)))


def test_the_config_tells_its_sizes_and_refuses_a_width_of_zero():
    assert ProbeEnvConfig().sizes().obs_dim == 8
    assert ProbeEnvConfig(action_dim=3).sizes().action_dim == 3
    with pytest.raises(ConfigError, match="at least 1"):
        ProbeEnvConfig(action_dim=0)
