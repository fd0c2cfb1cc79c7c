"""Every way to stop a run, and what is left of it."""

import signal

import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import valid_steps
from tests.flows.faults.conftest import (
    ENDLESS,
    LIGHT,
    LONG_LEARN,
    Run,
    Start,
    api,
    flow_run_of,
    until,
)

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]


def cancel_through_the_api(run: Run) -> None:
    """As the UI does, and ``prefect flow-run cancel``."""
    state = {"type": "CANCELLING", "name": "Cancelling"}
    api(f"/flow_runs/{flow_run_of(run.folder.name)['id']}/set_state", state=state, force=False)


def interrupt(run: Run) -> None:
    run.signal(signal.SIGINT)


@pytest.mark.parametrize(
    "stop",
    [
        # The run whose clients are killed ends by it too, in the default run.
        pytest.param(interrupt, id="Ctrl-C", marks=pytest.mark.slow),
        pytest.param(cancel_through_the_api, id="cancelled in Prefect"),
    ],
)
def test_a_stop_saves_and_both_flow_runs_are_cancelled(start: Start, stop):
    run = start(*LIGHT)
    run.wait_for("learn")
    stop(run)
    run.assert_it_stops_whole()


@pytest.mark.slow  # how a supervisor judges it is tested beside the supervisor
def test_a_server_that_is_killed_after_the_last_save_of_a_stop_has_stopped(start: Start):
    run = start(*ENDLESS)
    run.wait_for("learn")
    run.harm("die_after_saving")
    until("the fault to be in place", lambda: not run.output.with_name("fault").exists())
    run.signal(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert run.states() == ("Cancelled", ["Cancelled"])
    status = run.status()
    assert status is not None
    assert (status.state, status.exit_code) == (RunState.STOPPED, 0)
    assert status.last_checkpoint is not None
    assert valid_steps(run.folder)[-1] == status.last_checkpoint.step
    assert "ended by SIGKILL, after it had saved all there was" in run.text


@pytest.mark.slow  # beside the stops above, which the default run makes
def test_a_second_ctrl_c_leaves_at_once(start: Start):
    run = start(*LONG_LEARN)
    run.wait_for("worker_joined")
    until("a learn", lambda: (status := run.status()) and status.phase == "learn")

    def interrupt() -> bool:
        # What follows within half a second is taken for the same Ctrl-C.
        run.signal(signal.SIGINT)
        return run.process.poll() is not None

    until("the end", interrupt, patience_s=25)
    assert run.finish() == 130, run.text
    assert run.states() == ("Cancelled", ["Cancelled"])
    assert valid_steps(run.folder) == []


def states_by_name(name: str) -> list[str]:
    """Of all supervisors' flow runs of that name, the latest first."""
    found = api(
        "/flow_runs/filter",
        flow_runs={"name": {"any_": [name]}},
        flows={"name": {"any_": ["train"]}},
        sort="START_TIME_DESC",
    )
    return [flow_run["state_name"] for flow_run in found]


@pytest.mark.slow  # two runs
def test_a_killed_supervisor_leaves_no_process_and_a_saved_run_to_resume(start: Start):
    run = start(*ENDLESS)
    run.wait_for("saved")
    run.process.kill()
    assert run.finish() == -signal.SIGKILL
    assert run.events("stopped")
    status = run.status()
    assert status is not None
    assert status.state is RunState.STOPPED
    step = valid_steps(run.folder)[-1]
    again = start(*ENDLESS, "--resume", name=run.folder.name)
    assert again.wait_for("resumed").step == step
    again.wait_for("saved", attempt=2)
    again.signal(signal.SIGTERM)
    assert again.finish() == 0, again.text
    # The first one's by the second: its run was stopped, and saved.
    assert states_by_name(run.folder.name) == ["Cancelled", "Cancelled"]
