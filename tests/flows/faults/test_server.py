"""The server dies in every way there is; the run goes on from its newest valid checkpoint."""

import signal

import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import step_dirs
from tests.flows.faults.conftest import LIGHT, Run, Start

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]

WAYS = {
    "segv": "the server was ended by SIGSEGV",
    "exit": "the server ended with exit code 7",
    "raise": "ValueError: a fault in learn",
}


def test_whatever_ends_the_server_the_next_one_goes_on_and_sigterm_saves(start: Start):
    run = start(*LIGHT)
    newest = kill_with_the_newest_checkpoint_truncated(run)
    for attempt, (way, reason) in enumerate(WAYS.items(), start=2):
        saved = run.wait_for("saved", 2, attempt=attempt)
        assert saved.step > newest
        run.harm(way)
        crashed = run.wait_for("crashed", attempt)
        assert crashed.details["why"] == reason
        newest = int(step_dirs(run.folder)[-1].name)
        resumed = run.wait_for("resumed", attempt)
        assert resumed.step == newest
    run.wait_for("saved", attempt=len(WAYS) + 2)
    (server,) = run.family("run-server")
    assert any("uvloop" in mapped.path for mapped in server.memory_maps())
    run.signal(signal.SIGTERM)
    assert run.finish() == 0, run.text
    train, attempts = run.states()
    assert train == "Cancelled"
    assert attempts == ["Crashed", "Crashed", "Crashed", "Failed", "Cancelled"]
    status = run.status()
    assert status is not None
    assert (status.state, status.attempt, status.exit_code) == (RunState.STOPPED, 5, 0)
    assert int(step_dirs(run.folder)[-1].name) > newest


def kill_with_the_newest_checkpoint_truncated(run: Run) -> int:
    """The step from which the run goes on: the damaged one is named, and the one before taken."""
    run.wait_for("saved", 3)
    (server,) = run.family("run-server")
    server.suspend()
    before, newest = step_dirs(run.folder)[-2:]
    model = newest / "model.safetensors"
    model.write_bytes(model.read_bytes()[:-1])
    server.kill()
    assert run.wait_for("crashed").details["why"] == "the server was ended by SIGKILL"
    resumed = run.wait_for("resumed", attempt=2)
    assert resumed.step == int(before.name)
    assert str(newest) in str(run.wait_for("damaged", attempt=2).details)
    return resumed.step
