"""Env clients die; the server waits for them, and they come back."""

import signal

import pytest

from plugrl.runs.records import RunState
from tests.flows.faults.conftest import ENDLESS, LIGHT, Start, until

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]


def test_clients_that_are_killed_one_or_all_come_back_and_training_goes_on(start: Start):
    run = start(*LIGHT, "--num-procs", "2")
    # One is enough to train and to save: the other may join long after.
    run.wait_for("worker_joined", 2)
    run.wait_for("saved")
    one, *_ = run.family("spawn_main")
    one.kill()
    run.wait_for("worker_joined", 4)
    saved = len(run.events("saved"))
    run.wait_for("saved", saved + 1)
    for process in run.family("run-env-client"):
        process.kill()
    run.wait_for("worker_joined", 6)
    saved = len(run.events("saved"))
    run.wait_for("saved", saved + 1)
    run.signal(signal.SIGINT)
    run.assert_it_stops_whole()
    assert run.events("crashed") == []


@pytest.mark.slow  # the limits themselves are tested beside the supervisor
def test_clients_that_can_not_work_end_the_run_within_the_limits(start: Start):
    run = start(*ENDLESS, "--retries", "1")
    run.wait_for("worker_joined")
    for count in (2, 3):
        victims = until("a client", lambda: run.family("run-env-client"))
        for process in victims:
            process.kill()
        if count == 2:
            run.wait_for("worker_joined", count)
    assert run.finish() == 128 + signal.SIGKILL, run.text
    assert run.states()[0] == "Failed"
    status = run.status()
    assert status is not None
    assert status.state is RunState.FAILED
    assert status.reason == "the env clients failed with exit code 137"
