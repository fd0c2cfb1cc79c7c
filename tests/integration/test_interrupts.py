"""Ctrl-C in the middle of a learn: what is saved is what was before it, and the log says so."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from plugrl.server.signals import ECHO_S
from tests.integration.conftest import Program, Start, arrays_of, serve
from tests.integration.trained import trained_checkpoint

pytestmark = pytest.mark.integration

PPO = ("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum")
CLIENT = ("pendulum", "--num-envs", "2")
EXPERIMENTS = Path("checkpoints", "ppo", "gaussian-policy")
DUMMY = (
    *("dummy-policy", "default", "dummy", "debug", "--policy.action-dim", "1"),
    *("--algo.fake-learn-duration-sec", "300"),
)
DUMMIES = Path("checkpoints", "dummy", "dummy-policy")
ENDLESS_LEARN = ("--algo.num-epochs", "1_000_000", "--algo.global-steps", "1e6")


def _learning(start: Start, *arguments: str) -> Program:
    server, port = serve(start, *arguments)
    start("run-env-client", *CLIENT, "--server-port", port)
    with connect(f"ws://127.0.0.1:{port}/monitor", compression=None) as monitor:
        while json.loads(monitor.recv(timeout=30))["phase"] != "learn":
            pass
    return server


def _counters(step_dir: Path) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads((step_dir / "state.json").read_text())["counters"]
    return counters


def test_ctrl_c_in_a_learn_saves_what_was_before_it_and_says_what_was_dropped(start, tmp_path):
    before = trained_checkpoint(tmp_path / EXPERIMENTS / "before", num_learns=2)
    server = _learning(
        start,
        *(*PPO, *ENDLESS_LEARN),
        *("--exp-name", "after", "--limits.stop-timeout-s", "0.2"),
        *("--algo.policy-checkpoint-path", str(before)),
    )
    server.process.send_signal(signal.SIGINT)
    code, output = server.finish()
    assert code == 0, output
    assert "the learn was rolled back" in output
    assert "its 128 frames are dropped" in output
    after = tmp_path / EXPERIMENTS / "after" / "256"
    assert [p.name for p in after.parent.iterdir() if p.is_dir()] == ["256"]
    assert arrays_of(after) == arrays_of(before)
    assert _counters(after) == _counters(before)
    assert _counters(after)["num_learns"] == 2


def test_a_second_ctrl_c_leaves_at_once(start, tmp_path):
    server = _learning(start, *DUMMY, "--exp-name", "x")
    server.process.send_signal(signal.SIGINT)
    server.wait_for("waiting at most 30 s for the learn in progress")
    time.sleep(ECHO_S)  # a signal that comes sooner is the first one again
    server.process.send_signal(signal.SIGINT)
    code, output = server.finish(timeout_s=25)
    assert code == 130, output
    assert [p.name for p in (tmp_path / DUMMIES / "x").iterdir() if p.is_dir()] == []
