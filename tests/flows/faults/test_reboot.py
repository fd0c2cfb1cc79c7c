"""The power goes: every process is killed at once. What the next start makes of it."""

import contextlib

import psutil
import pytest

from flows import cancel_run
from plugrl.runs import liveness
from plugrl.runs.records import RunState
from plugrl.training.step_folder import valid_steps
from tests.flows.faults.conftest import ENDLESS, Start, flow_run_of, states_of, until

pytestmark = [
    pytest.mark.integration,
    # Three whole runs; what they come to is also tested piece by piece, without training.
    pytest.mark.slow,
    pytest.mark.usefixtures("prefect_api"),
]


def test_after_a_power_cut_the_next_start_settles_the_run_and_a_resume_goes_on(
    start: Start, capsys: pytest.CaptureFixture[str]
):
    run = start(*ENDLESS)
    run.wait_for("saved")
    for process in run.family():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    run.finish()
    lost = run.status()
    assert lost is not None
    assert lost.state is RunState.RUNNING
    assert liveness.observed_state(lost, lost.updated_at) is RunState.LOST
    assert states_of(run.folder.name)[0] == "Running"
    before = flow_run_of(run.folder.name)["id"]
    step = valid_steps(run.folder)[-1]

    other = start(*ENDLESS)
    until("the final record", lambda: (now := run.status()) and now.state.final)
    settled = run.status()
    assert settled is not None
    assert settled.state is RunState.FAILED
    assert settled.flow_run_id == before
    assert f"pid {lost.pid}) was gone" in (settled.reason or "")
    until("Prefect to know", lambda: states_of(run.folder.name) == ("Crashed", ["Crashed"]))

    again = start(*ENDLESS, "--resume", name=run.folder.name)
    assert again.wait_for("resumed", attempt=2).step == step
    again.wait_for("saved", attempt=2)
    other.wait_for("saved")
    for one in (again, other):
        assert cancel_run.run([str(one.folder)], "plugrl-flow cancel") == 0
        assert f"{one.folder.name} is STOPPED at step" in capsys.readouterr().out
        assert one.finish() == 0, one.text
    ended = again.status()
    assert ended is not None
    assert (ended.state, ended.attempt) == (RunState.STOPPED, 2)
    assert valid_steps(again.folder)[-1] > step
