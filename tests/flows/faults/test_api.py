"""Prefect's API is away: from the start, for a while, for good. Training does not care."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from flows import api as prefect_server
from plugrl.runs import prefect_api as addresses
from plugrl.runs.records import RunState
from tests.flows.faults.conftest import DUMMY, ENDLESS, Start, states_of, until

pytestmark = pytest.mark.integration


@pytest.fixture
def own_api(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port: Callable[[], int]
) -> Iterator[str]:
    """An API of the test's own, to be killed."""
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(free_port()))
    monkeypatch.delenv(addresses.API_VARIABLE, raising=False)
    url = prefect_server.start()
    monkeypatch.setenv(addresses.API_VARIABLE, url)
    yield url
    prefect_server.stop()


def kill_api() -> None:
    server = addresses.local_server()
    assert server is not None
    process = psutil.Process(server.pid)
    process.kill()
    process.wait()


def test_without_an_api_a_run_trains_all_the_same(start: Start):
    run = start(*DUMMY, PREFECT_API_URL="http://127.0.0.1:9/api")
    assert run.finish() == 0, run.text
    assert "no Prefect API" in run.text
    status = run.status()
    assert status is not None
    assert (status.state, status.exit_code, status.step) == (RunState.DONE, 0, 64)


@pytest.mark.slow  # starts an API of its own, twice
def test_an_api_that_dies_and_comes_back_and_dies_for_good_changes_nothing(
    start: Start, own_api: str
):
    run = start(*ENDLESS)
    run.wait_for("saved")
    kill_api()
    run.wait_for("saved", len(run.events("saved")) + 5)
    assert prefect_server.start() == own_api
    run.wait_for("saved", len(run.events("saved")) + 2)
    until("the saves in the API", lambda: tasks(own_api) > 2)
    kill_api()
    run.harm("kill")
    run.wait_for("resumed")
    run.wait_for("saved", attempt=2)
    began = time.monotonic()
    run.process.terminate()
    assert run.finish() == 0, run.text
    assert time.monotonic() - began < 60
    status = run.status()
    assert status is not None
    assert (status.state, status.attempt) == (RunState.STOPPED, 2)


def tasks(url: str) -> int:
    return len(httpx.post(f"{url}/task_runs/filter", json={}, timeout=30).json())


@pytest.mark.slow  # two runs
@pytest.mark.usefixtures("prefect_api")
def test_two_runs_at_once_do_not_meet(start: Start):
    one, other = start(*DUMMY), start(*DUMMY)
    for run in (one, other):
        assert run.finish() == 0, run.text
        assert states_of(run.folder.name) == ("Completed", ["Completed"])
        status = run.status()
        assert status is not None
        assert status.state is RunState.DONE
