"""Twenty deaths of the server in one run on Hopper."""

import random
import signal
import threading

import psutil
import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import valid_steps
from tests.flows.faults.conftest import Start, states_of

NUM_KILLS = 20
STEPS = 200_000
SAVE_EVERY = 2 * 2048

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
