"""One worker and one seed: a run repeats, and a resumed one equals a straight one, bit for bit."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from plugrl.training.pace import NUM_LATEST_LEARNS
from tests.integration.boundary_env import EPISODE_STEPS
from tests.integration.conftest import Start, arrays_of, programs, serve, train

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


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of a straight run, and of one that was stopped in mid-rollout and resumed."""
    folder = tmp_path_factory.mktemp("halves")
    with programs(folder) as start:
        train(start, (*SERVER, "--exp-name", "straight", "--algo.save-interval", "100"), CLIENT)
        _train_in_halves(start)
    return folder / EXPERIMENTS / "straight", folder / EXPERIMENTS / "halves"


def test_another_run_of_the_same_seed_writes_the_same_bytes(start, tmp_path, halves):
    train(start, (*SERVER, "--exp-name", "same"), CLIENT)
    one, same = (
        arrays_of(exp_dir / str(NUM_STEPS))
        for exp_dir in (halves[0], tmp_path / EXPERIMENTS / "same")
    )
    assert set(one) == {"model.safetensors", "optimizer.safetensors"}
    assert one == same


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


def test_a_run_that_was_stopped_and_resumed_ends_with_the_bits_of_a_straight_one(halves):
    straight, resumed = (exp_dir / str(NUM_STEPS) for exp_dir in halves)
    assert arrays_of(straight) == arrays_of(resumed)
    counters = _counters(straight)
    assert counters == _counters(resumed)
    assert (counters["global_step"], counters["num_learns"]) == (NUM_STEPS, NUM_STEPS // 128)


def _counters(step_dir: Path) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads((step_dir / "state.json").read_text())["counters"]
    # How many frames each connection has sent says nothing of the run.
    running = counters["rewards"].pop("running")
    assert {value for _, value in running.values()} == {0.0}
    return counters


def test_a_resumed_run_reports_what_a_straight_one_reports(halves):
    straight, resumed = (_learned(exp_dir) for exp_dir in halves)
    assert list(straight) == list(range(128, NUM_STEPS + 1, 128))
    assert straight == resumed
    rates = [metrics["train/learning_rate"] for metrics in resumed.values()]
    assert rates == pytest.approx([3e-4 * (1 - i / 6) for i in range(6)])


def test_pace_and_time_left_of_a_resumed_run_count_from_where_it_resumed(halves):
    lines = _metrics(halves[1])
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
