"""Real processes against a real server; a parent of its own where signals are sent."""

import collections
import os
import signal
import subprocess
import sys
import threading
import time

import gymnasium as gym
import numpy as np
import psutil
import pytest

from plugrl.client.processes import STOP_GRACE_S
from plugrl.client.run import run_processes
from plugrl.config.dummy import DummyEnvConfig
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.config.probe import ProbeEnvConfig
from plugrl.framing import binary_frame
from plugrl.protocol import wire
from plugrl.protocol.messages import Metadata
from tests.client.conftest import DeafServer

pytestmark = pytest.mark.integration

PARENT = """
import sys
from plugrl.client.processes import STOP_GRACE_S
from plugrl.client.run import run_processes
from plugrl.config.client import ClientConfig
from plugrl.config.dummy import DummyEnvConfig

if __name__ == "__main__":
    config = ClientConfig(server_port={port}, num_procs={num_procs})
    sys.exit(run_processes("dummy-v1", DummyEnvConfig({env}), config))
"""


class Crowd:
    """An endless server and the parent of its clients."""

    def __init__(self, policy_server, num_procs):
        self.num_procs = num_procs
        self.came: set[int] = set()
        self.all_came = threading.Event()
        self.server = policy_server(act=self._act)
        program = PARENT.format(port=self.server.port, num_procs=num_procs, env="num_images=0")
        self.parent = psutil.Popen(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, start_new_session=True
        )
        assert self.all_came.wait(30)
        self.workers = [
            child
            for child in self.parent.children()
            if "resource_tracker" not in " ".join(child.cmdline())
        ]

    def _act(self, infer):
        self.came.add(self.server.order[-1][0])
        if len(self.came) == self.num_procs:
            self.all_came.set()
        # The frames of an endless run are not wanted here.
        self.server.infers.clear()
        self.server.feedbacks.clear()
        self.server.order.clear()
        return np.zeros((1, len(infer.obs), 7), np.float32)

    def wait(self):
        self.stderr = self.parent.communicate(timeout=30)[1].decode()
        psutil.wait_procs(self.workers, timeout=15)
        return self.parent.returncode

    def left_behind(self):
        return [process for process in self.workers if process.is_running()]


@pytest.fixture
def crowd(policy_server):
    crowds = []

    def start(num_procs=2):
        crowds.append(Crowd(policy_server, num_procs))
        return crowds[-1]

    yield start
    for one in crowds:
        for process in (one.parent, *one.workers):
            if process.is_running():
                process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_parent_ends_all_with_a_closing_handshake(crowd, number):
    clients = crowd()
    clients.parent.send_signal(number)
    assert clients.wait() == 0
    assert clients.server.thread.wait_for_closes(2) == [(1000, "")] * 2
    assert clients.left_behind() == []


def test_ctrl_c_which_reaches_all_at_once_ends_them_the_same_way(crowd):
    clients = crowd()
    os.killpg(clients.parent.pid, signal.SIGINT)
    assert clients.wait() == 0
    assert clients.server.thread.wait_for_closes(2) == [(1000, "")] * 2
    assert clients.left_behind() == []
    assert "Traceback" not in clients.stderr


def test_a_signal_to_a_single_client_ends_it_with_a_closing_handshake(crowd):
    clients = crowd(num_procs=1)
    clients.parent.send_signal(signal.SIGTERM)
    assert clients.wait() == 0
    assert clients.server.thread.wait_for_closes(1) == [(1000, "")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_client_whose_server_reads_nothing(serving, number):
    server = DeafServer(binary_frame(wire.encode(Metadata({})), from_client=False))
    env = "image_height=2000, image_width=2000"
    program = PARENT.format(port=serving(server).port, num_procs=1, env=env)
    with subprocess.Popen([sys.executable, "-c", program]) as client:
        server.wait_for_bytes()
        client.send_signal(number)
        try:
            assert client.wait(10) == 0
        finally:
            client.kill()


def test_a_worker_that_dies_is_seen_at_once_and_the_others_are_stopped(crowd):
    clients = crowd()
    started = time.monotonic()
    clients.workers[0].kill()
    assert clients.wait() == 1
    assert time.monotonic() - started < STOP_GRACE_S
    assert "ended with SIGKILL, stopping the others" in clients.stderr
    codes = collections.Counter(code for code, _ in clients.server.thread.wait_for_closes(2))
    assert codes == {1000: 1, 1006: 1}
    assert clients.left_behind() == []


def test_no_worker_outlives_a_parent_that_is_killed(crowd):
    clients = crowd()
    clients.parent.kill()
    assert clients.wait() == -signal.SIGKILL
    assert clients.server.thread.wait_for_closes(2) == [(1000, "")] * 2
    assert clients.left_behind() == []


def test_every_env_of_every_process_has_a_seed_of_its_own(policy_server):
    server = policy_server(act=lambda m: np.zeros((1, len(m.obs), 1), np.int64))
    config = server.config(num_procs=2, num_envs=2, num_episodes=1, seed=10)

    assert run_processes("gym-v1", GymnasiumEnvConfig(id="CartPole-v1"), config) == 0

    firsts = [row for m in server.infers if not m.step_ids.any() for row in m.obs.states["state"]]
    expected = [gym.make("CartPole-v1").reset(seed=10 + i)[0] for i in range(4)]
    assert sorted(map(tuple, firsts)) == sorted(map(tuple, expected))
    assert server.thread.wait_for_closes(2) == [(1000, "")] * 2


def test_all_leave_with_success_when_the_server_stops(policy_server):
    server = policy_server(endings=[(2, "stop")] * 2)
    config = server.config(num_procs=2)
    assert run_processes("dummy-v1", DummyEnvConfig(), config) == 0


def test_an_env_of_an_imported_module_is_known_to_the_processes(
    policy_server, tmp_path, monkeypatch
):
    (tmp_path / "my_plugrl_envs.py").write_text(
        "from plugrl.envs.probe import ProbeEnv\n"
        "from plugrl.registry import register_env\n"
        "register_env('mine-v1')(ProbeEnv)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    server = policy_server()
    config = server.config(num_procs=2, num_episodes=1)
    assert run_processes("mine-v1", ProbeEnvConfig(), config, imports=["my_plugrl_envs"]) == 0


def test_the_exit_code_of_a_wrong_wish_is_that_of_the_whole(policy_server, capfd):
    config = policy_server().config(num_procs=2)
    assert run_processes("nothing-v1", ProbeEnvConfig(), config) == 2
    assert "unknown env 'nothing-v1'" in capfd.readouterr().err


def test_the_handlers_of_signals_are_put_back(policy_server):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    config = policy_server().config(num_episodes=1)
    run_processes("probe-v1", ProbeEnvConfig(), config)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
