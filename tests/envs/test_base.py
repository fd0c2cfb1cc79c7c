import numpy as np
import pytest

from plugrl.config.probe import ProbeEnvConfig
from plugrl.envs.base import StepResult, VectorEnv, build_env
from plugrl.errors import UnknownNameError, UsageError
from plugrl.protocol.messages import Observation
from plugrl.registry import ENVS


class Bare(VectorEnv):
    def __init__(self, config, num_envs):
        self.config = config
        self.num_envs = num_envs

    def reset(self, env_indices, seeds):
        return Observation({}, {}, np.full(len(env_indices), ""))

    def step(self, env_indices, actions):
        no = np.zeros(len(env_indices), np.bool_)
        return StepResult(self.reset(env_indices, None), np.zeros(len(no)), no, no)


def test_a_registered_env_is_built_from_its_config_and_the_number_of_envs(monkeypatch):
    monkeypatch.setattr(ENVS, "_entries", dict(ENVS._entries))
    ENVS.register("bare-v1")(Bare)

    env = build_env("bare-v1", "the config", 3)

    assert isinstance(env, Bare)
    assert (env.config, env.num_envs) == ("the config", 3)


def test_an_unknown_uid_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match=r"unknown env 'probe-v2', did you mean 'probe-v1'"):
        build_env("probe-v2", ProbeEnvConfig(), 1)


def test_an_env_without_pictures_says_so():
    with pytest.raises(UsageError, match=r"Bare draws no pictures; leave out --video-every"):
        Bare(None, 1).render()


def test_greeting_and_closing_are_optional():
    env = Bare(None, 1)
    env.greet({"action_dim": 3})
    env.close()
