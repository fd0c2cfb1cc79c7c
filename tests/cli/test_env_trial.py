import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from plugrl.cli.env_choice import choose_env
from plugrl.cli.env_trial import try_apart
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.errors import EnvError, UsageError

pytestmark = pytest.mark.integration

MODULE = """
import os, signal, subprocess, sys
import gymnasium
import numpy as np

class Env(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None, on_reset="wrong shape"):
        self.on_reset = on_reset

    def reset(self, *, seed=None, options=None):
        if self.on_reset == "wait for a helper":
            with open("alive", "w") as alive:
                helper = subprocess.Popen(
                    [sys.executable, "-c", "import time; print(flush=True); time.sleep(300)"],
                    stdout=alive,
                )
            helper.wait()
        if self.on_reset == "exit":
            os._exit(3)
        if self.on_reset == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return np.zeros(3 if self.on_reset == "wrong shape" else 2, np.float32), {}
"""
NAME = "tried_env:Env"


def holders(path: Path) -> list[int]:
    """The processes that hold ``path`` open."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if str(path) in (file.path for file in process.open_files()):
                found.append(process.pid)
    return found


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


def test_an_interruption_leaves_nothing_of_what_the_env_has_started(tmp_path):
    alive = tmp_path / "alive"

    def interrupt() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (alive.exists() and alive.stat().st_size):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        trial("wait for a helper")
    gone = time.monotonic() + 10
    while holders(alive) and time.monotonic() < gone:
        time.sleep(0.05)
    assert holders(alive) == []


def test_an_answer_that_nobody_reads_is_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "plugrl.cli.env_trial", str(writing), "dummy-v1", "state"],
        pass_fds=[writing],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_modules_that_register_names_are_imported_there_too(tmp_path):
    (tmp_path / "telling.py").write_text("raise ImportError('so it is imported')")
    choice = choose_env("dummy-v1")
    with pytest.raises(UsageError, match="so it is imported"):
        try_apart(choice, choice.config, ["telling"])
