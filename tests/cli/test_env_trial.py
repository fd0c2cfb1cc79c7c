import signal

import pytest

from plugrl.cli.env_choice import choose_env
from plugrl.cli.env_trial import try_apart
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.errors import EnvError, UsageError

pytestmark = pytest.mark.integration

MODULE = """
import os, signal
import gymnasium
import numpy as np

class Env(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None, on_reset="wrong shape"):
        self.on_reset = on_reset

    def reset(self, *, seed=None, options=None):
        if self.on_reset == "exit":
            os._exit(3)
        if self.on_reset == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return np.zeros(3 if self.on_reset == "wrong shape" else 2, np.float32), {}
"""
NAME = "tried_env:Env"


def trial(on_reset: str) -> None:
    choice = choose_env(NAME)
    try_apart(choice, GymnasiumEnvConfig(id=NAME, kwargs={"on_reset": on_reset}))


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch) -> None:
    (tmp_path / "tried_env.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)


def test_an_env_that_can_be_made_passes():
    trial("right shape")


def test_what_is_wrong_with_a_config_is_told_as_if_it_had_been_tried_here():
    choice = choose_env("Reacher-v6")
    with pytest.raises(UsageError, match=r"unknown gymnasium id 'Reacher-v6', did you mean"):
        try_apart(choice, choice.config)


def test_so_is_what_is_wrong_with_an_observation():
    with pytest.raises(EnvError, match=r"got shape \(3,\)"):
        trial("wrong shape")


@pytest.mark.parametrize(
    ("on_reset", "how"), [("exit", "exit code 3"), ("kill", f"signal {int(signal.SIGKILL)}")]
)
def test_an_env_that_ends_its_process_ends_no_other(on_reset, how):
    with pytest.raises(EnvError, match=f"expected env '{NAME}' to be made.* with {how}"):
        trial(on_reset)


def test_an_env_to_be_filmed_draws_a_picture_first():
    choice = choose_env("dummy-v1")
    try_apart(choice, choice.config, filmed=True)
    choice = choose_env("probe-v1")
    try_apart(choice, choice.config)
    with pytest.raises(UsageError, match="ProbeEnv draws no pictures; leave out --video-every"):
        try_apart(choice, choice.config, filmed=True)


def test_modules_that_register_names_are_imported_there_too(tmp_path):
    (tmp_path / "telling.py").write_text("raise ImportError('so it is imported')")
    choice = choose_env("dummy-v1")
    with pytest.raises(UsageError, match="so it is imported"):
        try_apart(choice, choice.config, ["telling"])
