"""Twenty deaths of the server in one run on Hopper."""

import json
import random
import signal
import statistics
import threading
from pathlib import Path

import psutil
import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import valid_steps
from tests.flows.faults.conftest import Start, states_of

NUM_KILLS = 20
STEPS = 200_000
SAVE_EVERY = 2 * 2048
CURVES = Path(__file__).parents[3] / "benchmarks" / "results" / "learning.json"
RETURN = "rollout/episode_return_mean"
SPREAD = 2.0
"""Standard deviations: the lowest and the highest of three seeds would be left by every other
undisturbed run."""

pytestmark = [
    pytest.mark.integration,
    pytest.mark.usefixtures("prefect_api"),
    pytest.mark.slow,  # ten minutes
    pytest.mark.timeout(1800),
]


def test_a_run_that_is_killed_twenty_times_completes_by_itself(start: Start):
    moments = random.Random(0)
    run = start(
        *("gaussian-policy", "default", "ppo", "default", "--env", "hopper", "--port", "0"),
        *("--num-procs", "2", "--num-envs", "4", "--algo.global-steps", str(STEPS)),
        *("--algo.save-interval", "2", "--retry-delay", "0.1"),
    )
    at = sorted(moments.sample(range(SAVE_EVERY, STEPS - SAVE_EVERY, 2048), NUM_KILLS))
    never = threading.Event()
    for kill, step in enumerate(at, start=1):
        run.wait_until_step(step)
        # What varies is the moment, within a learn, a save or a rollout.
        never.wait(moments.uniform(0, 1.0))
        status = run.status()
        assert status is not None
        assert status.server_pid is not None
        psutil.Process(status.server_pid).send_signal(signal.SIGKILL)
        crashed = run.wait_for("crashed", kill)
        newest = run.wait_for("resumed", kill).step
        # Those since the checkpoint, and those of the rollout that was saved meanwhile.
        assert crashed.step - newest <= SAVE_EVERY + 2048
    assert run.finish(patience_s=600) == 0, run.text
    assert states_of(run.folder.name) == ("Completed", ["Crashed"] * NUM_KILLS + ["Completed"])
    status = run.status()
    assert status is not None
    assert (status.state, status.attempt) == (RunState.DONE, NUM_KILLS + 1)
    assert valid_steps(run.folder)[-1] >= STEPS
    final = [learn for learn in metrics(run.folder) if RETURN in learn][-1]
    assert final["step"] >= STEPS
    mean, deviation = undisturbed(STEPS)
    assert abs(final[RETURN] - mean) <= SPREAD * deviation, (final[RETURN], mean, deviation)


def metrics(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def undisturbed(step: int) -> tuple[float, float]:
    """Mean and standard deviation of what runs with the same settings returned at that step."""
    curves = json.loads(CURVES.read_text("utf-8"))["hopper"]["curves"].values()
    returns = [max(point for point in curve if point[0] <= step)[1] for curve in curves]
    return statistics.mean(returns), statistics.stdev(returns)
