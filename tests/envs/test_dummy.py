import numpy as np
import pytest

from plugrl.config.dummy import DummyEnvConfig
from plugrl.envs.dummy import DummyEnv


def test_observations_have_the_sizes_of_the_config():
    config = DummyEnvConfig(num_images=2, image_height=5, image_width=7, state_dim=3, text="go")

    obs = DummyEnv(config, 4).reset(np.arange(4), None)

    assert {name: image.shape for name, image in obs.images.items()} == {
        "image_0": (4, 5, 7, 3),
        "image_1": (4, 5, 7, 3),
    }
    assert obs.states["state"].shape == (4, 3)
    assert obs.text.tolist() == ["go"] * 4


def test_without_images_and_state_an_observation_is_only_text():
    env = DummyEnv(DummyEnvConfig(num_images=0, state_dim=0), 2)

    obs = env.reset(np.arange(2), None)

    assert (obs.images, obs.states, len(obs)) == ({}, {}, 2)


def test_each_step_pays_one_and_the_last_one_terminates():
    env = DummyEnv(DummyEnvConfig(episode_length=2, state_dim=1), 1)
    one, action = np.array([0]), np.zeros((1, 7))
    env.reset(one, None)

    first, last = env.step(one, action), env.step(one, action)

    assert (first.rewards.tolist(), first.terminated.tolist()) == ([1.0], [False])
    assert (last.rewards.tolist(), last.terminated.tolist()) == ([1.0], [True])
    assert last.truncated.tolist() == [False]
    assert last.obs.states["state"].tolist() == [[2.0]]


def test_only_the_named_envs_step_and_are_reset():
    env = DummyEnv(DummyEnvConfig(state_dim=1), 3)
    env.reset(np.arange(3), None)
    env.step(np.array([0, 2]), np.zeros((2, 1)))

    assert env.reset(np.array([0]), None).states["state"].tolist() == [[0.0]]
    after = env.step(np.arange(3), np.zeros((3, 1))).obs.states["state"]
    assert after.tolist() == [[1.0], [1.0], [2.0]]


def test_earlier_observations_are_left_alone():
    env = DummyEnv(DummyEnvConfig(state_dim=1), 1)
    before = env.reset(np.array([0]), None)
    env.step(np.array([0]), np.zeros((1, 1)))
    assert before.states["state"].tolist() == [[0.0]]


def test_its_picture_is_black():
    assert not DummyEnv(DummyEnvConfig(), 1).render().any()


@pytest.mark.parametrize("num_envs", [1, 64])
def test_any_action_does(num_envs):
    env = DummyEnv(DummyEnvConfig(), num_envs)
    everyone = np.arange(num_envs)
    env.reset(everyone, None)
    for shape in ((), (1,), (2, 3)):
        assert len(env.step(everyone, np.zeros((num_envs, *shape))).rewards) == num_envs
