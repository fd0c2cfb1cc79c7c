"""One worker and one seed: a run repeats, and a resumed one equals a straight one, bit for bit."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from plugrl.training.pace import NUM_LATEST_LEARNS
from tests.integration.boundary_env import EPISODE_STEPS
from tests.integration.conftest import Start, arrays_of, serve, train

pytestmark = pytest.mark.integration

NUM_STEPS = 768
SERVER = (
    *("gaussian-policy", "default", "ppo", "debug", "--algo.global-steps", str(NUM_STEPS)),
    *("--policy.obs-dim", "3", "--policy.action-dim", "1"),
)
CLIENT = (
    *("gym-v1", "--env.id", "tests.integration.boundary_env:BoundaryEnv", "--num-envs", "2"),
    *("--retry-max-s", "0.5"),
)
EXPERIMENTS = Path("checkpoints", "ppo", "gaussian-policy")


def test_two_runs_end_the_same_though_one_was_stopped_and_resumed(start, tmp_path):
    # In one test: every part looks at the same runs, which take seconds each.
    whole = (*SERVER, "--algo.save-interval", "100")
    train(start, (*whole, "--exp-name", "straight"), CLIENT)
    _train_in_halves(start)
    straight, halves = (tmp_path / EXPERIMENTS / name for name in ("straight", "halves"))
    _assert_the_same_bytes(straight, halves)
    _assert_the_same_counters(straight, halves)
    _assert_the_same_reports(straight, halves)
    _assert_that_pace_and_time_left_count_from_the_resume(halves)


def _assert_the_same_bytes(one: Path, other: Path) -> None:
    arrays = arrays_of(one / str(NUM_STEPS))
    assert set(arrays) == {"model.safetensors", "optimizer.safetensors"}
    assert arrays == arrays_of(other / str(NUM_STEPS))


def _train_in_halves(start: Start) -> None:
    arguments = (*SERVER, "--exp-name", "halves", "--algo.save-interval", "100")
    server, port = serve(start, *arguments)
    # 3 rollouts of 128 frames and a half.
    some = ("--num-episodes", str(448 // EPISODE_STEPS), "--server-port", port)
    assert start("run-env-client", *CLIENT, *some).finish()[0] == 0
    server.process.send_signal(signal.SIGINT)
    code, output = server.finish()
    assert code == 0
    assert "dropped 64 frames collected since the last learn" in output
    output = train(start, (*arguments, "--resume"), CLIENT)
    assert f"step {NUM_STEPS:,}/{NUM_STEPS:,}" in output


def _metrics(exp_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (exp_dir / "metrics.jsonl").read_text().splitlines()]


def _learned(exp_dir: Path) -> dict[int, dict[str, Any]]:
    """What each learn reported, by step, but for what a clock or a server's life decides."""
    return {
        line["step"]: {
            name: value
            for name, value in line.items()
            if name.startswith(("train/", "rollout/", "policy/"))
        }
        for line in _metrics(exp_dir)
        if "event" not in line
    }


def _assert_the_same_counters(one: Path, other: Path) -> None:
    counters = _counters(one / str(NUM_STEPS))
    assert counters == _counters(other / str(NUM_STEPS))
    assert (counters["global_step"], counters["num_learns"]) == (NUM_STEPS, NUM_STEPS // 128)


def _counters(step_dir: Path) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads((step_dir / "state.json").read_text())["counters"]
    # How many frames each connection has sent says nothing of the run.
    running = counters["rewards"].pop("running")
    assert {value for _, value in running.values()} == {0.0}
    return counters


def _assert_the_same_reports(one: Path, other: Path) -> None:
    reports = _learned(one)
    assert list(reports) == list(range(128, NUM_STEPS + 1, 128))
    assert reports == _learned(other)
    rates = [metrics["train/learning_rate"] for metrics in reports.values()]
    assert rates == pytest.approx([3e-4 * (1 - i / 6) for i in range(6)])


def _assert_that_pace_and_time_left_count_from_the_resume(resumed: Path) -> None:
    lines = _metrics(resumed)
    start = next(i for i, line in enumerate(lines) if line.get("event") == "resumed")
    since = lines[start]["step"]
    assert since == 3 * 128
    first, *later = lines[start + 1 :]
    # The first rate counts from the resume: had it counted the steps before, it would be higher.
    assert first["time/fps"] == pytest.approx((first["step"] - since) / first["time/elapsed_s"])
    assert 0 < len(later) <= NUM_LATEST_LEARNS
    for line in later:
        seconds = line["time/elapsed_s"] - first["time/elapsed_s"]
        assert line["time/fps"] == pytest.approx((line["step"] - first["step"]) / seconds)
        assert line["time/eta_s"] == pytest.approx((NUM_STEPS - line["step"]) / line["time/fps"])
