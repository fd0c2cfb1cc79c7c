"""A server killed in a rollout, a learn or a save goes on from a whole checkpoint."""

import random
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plugrl.training.step_folder import TEMPORARY_PREFIXES, step_dirs, valid_steps
from tests.integration.conftest import LISTENING, Program, Start

pytestmark = pytest.mark.integration

SERVER = (
    *("run-server", "gaussian-policy", "default", "ppo", "debug", "--env", "pendulum"),
    *("--algo.global-steps", "1e9", "--exp-name", "x"),
)
SAVED = r"saved \S+/(\d+) \("
"""What a server says once a step is safe."""


@pytest.mark.timeout(300)
def test_after_three_kills_no_saved_step_is_lost(start, tmp_path):
    _kill_and_resume(start, tmp_path, num_kills=3, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_after_thirty_kills_no_saved_step_is_lost(start, tmp_path):
    _kill_and_resume(start, tmp_path, num_kills=30, seed=2)


def _kill_and_resume(start: Start, folder: Path, *, num_kills: int, seed: int) -> None:
    exp_dir = folder / "checkpoints" / "ppo" / "gaussian-policy" / "x"
    port = _free_port()
    # One client for all servers: it comes back to each of them.
    start("run-env-client", "pendulum", "--server-port", port, "--retry-max-s", "0.3")
    server = start(*SERVER, "--port", port)
    moments = random.Random(seed)
    for kill in range(num_kills):
        server.wait_for(SAVED, count=moments.randint(1, 3))
        _wait_for_moment(moments, exp_dir, while_writing=kill % 2 == 1)
        server.process.kill()
        _, output = server.finish()
        announced = max(int(step) for step in re.findall(SAVED, output))
        assert [int(path.name) for path in step_dirs(exp_dir)] == valid_steps(exp_dir)
        server = start(*SERVER, "--port", port, "--resume")
        assert _restored_step(server) >= announced


def _wait_for_moment(moments: random.Random, exp_dir: Path, *, while_writing: bool) -> None:
    if while_writing:
        _busily_wait(lambda: any(p.name.startswith(TEMPORARY_PREFIXES) for p in exp_dir.iterdir()))
    else:
        # Not for anything to happen: what varies is what the kill cuts in two.
        time.sleep(moments.uniform(0, 0.2))


def _busily_wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline


def _restored_step(server: Program) -> int:
    restored = int(server.wait_for(r"restored step (\d+) from")[1])
    server.wait_for(LISTENING)
    assert "damaged" not in server.output
    return restored


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
