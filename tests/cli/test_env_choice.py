import pytest

from plugrl.cli.env_choice import choose_env, known_sizes, try_env
from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyEnvConfig
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.errors import UnknownNameError, UsageError

MODULE = """
import gymnasium
import numpy as np

class MyEnv(gymnasium.Env):
    observation_space = gymnasium.spaces.Dict(
        a=gymnasium.spaces.Box(-1, 1, (2, 3)), b=gymnasium.spaces.Discrete(4)
    )
    action_space = gymnasium.spaces.MultiDiscrete([2, 5])

    def reset(self, *, seed=None, options=None):
        return {"a": np.zeros((2, 3), np.float32), "b": 1}, {}

class Broken(MyEnv):
    def reset(self, *, seed=None, options=None):
        return {"a": np.zeros((2, 2), np.float32), "b": 1}, {}
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    (tmp_path / "chosen_env.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "chosen_env"


@pytest.mark.parametrize(
    ("arguments", "uid", "variant", "config"),
    [
        (("hopper",), "hopper", "default", GymnasiumEnvConfig(id="Hopper-v5")),
        (("dummy-v1",), "dummy-v1", "default", DummyEnvConfig()),
        (("dummy-v1:state",), "dummy-v1", "state", DummyEnvConfig(num_images=0, text="")),
        (("dummy-v1", "state"), "dummy-v1", "state", DummyEnvConfig(num_images=0, text="")),
        (("Reacher-v5",), "gym-v1", "default", GymnasiumEnvConfig(id="Reacher-v5")),
        (("Reacher-v9",), "gym-v1", "default", GymnasiumEnvConfig(id="Reacher-v9")),
        (("ALE/Pong-v5",), "gym-v1", "default", GymnasiumEnvConfig(id="ALE/Pong-v5")),
        (("a.b:C",), "gym-v1", "default", GymnasiumEnvConfig(id="a.b:C")),
    ],
)
def test_a_name_is_one_of_ours_a_gymnasium_id_or_a_class(arguments, uid, variant, config):
    choice = choose_env(*arguments)
    assert (choice.name, choice.uid, choice.variant) == (arguments[0], uid, variant)
    assert choice.config == config


def test_any_other_name_is_told_what_would_have_done():
    with pytest.raises(UnknownNameError, match=r"did you mean 'hopper'.*or any Gymnasium id, or"):
        choose_env("hoper")


def test_a_dot_where_the_colon_belongs_is_told_so(module):
    with pytest.raises(UnknownNameError, match=f"did you mean '{module}:MyEnv'"):
        choose_env(f"{module}.MyEnv")
    for name in (
        f"{module}.np",
        f"{module}.",
        ".MyEnv",
        "no_such_module.MyEnv",
        "..",
    ):
        with pytest.raises(UnknownNameError, match=f"unknown env '{name}'") as info:
            choose_env(name)
        assert ":MyEnv" not in str(info.value)


def test_the_flags_of_a_choice_are_laid_upon_the_registered_variant():
    choice = choose_env("Reacher-v5")
    assert choice.flags(choice.config) == ["--env.id=Reacher-v5"]


def test_sizes_come_from_the_config_or_from_the_env_itself(module):
    reacher = EnvSizes(obs_dim=10, action_dim=2)
    assert known_sizes("gym-v1", GymnasiumEnvConfig(id="Reacher-v5")) == reacher
    heavier = GymnasiumEnvConfig(id="Reacher-v5", kwargs={"reward_dist_weight": 2})
    assert heavier.sizes() is None
    assert known_sizes("gym-v1", heavier) == reacher
    mine = known_sizes("gym-v1", GymnasiumEnvConfig(id=f"{module}:MyEnv"))
    assert mine == EnvSizes(obs_dim=6 + 4, action_dim=0, num_choices=(2, 5))


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (GymnasiumEnvConfig(id="Reacher-v6"), "unknown gymnasium id 'Reacher-v6', did you mean"),
        (GymnasiumEnvConfig(id="CartPole-v1", kwargs={"a": 1}), "can't make 'CartPole-v1'"),
        (GymnasiumEnvConfig(id="no_such_module:A"), "can't make 'no_such_module:A'"),
    ],
)
def test_an_env_that_cannot_be_made_is_found_by_trying(config, sentence):
    with pytest.raises(UsageError, match=sentence):
        try_env("gym-v1", config)


def test_an_env_whose_first_observation_is_none_is_found_by_trying(module):
    with pytest.raises(Exception, match=r"expected an observation of Box.* got shape \(2, 2\)"):
        try_env("gym-v1", GymnasiumEnvConfig(id=f"{module}:Broken"))
