"""What is told to somebody who leaves."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plugrl.cli.programs import runnable
from plugrl.runs.liveness import own_birth, own_start
from plugrl.runs.records import RunState, update_status
from plugrl_tui.core.going_on import going_on
from plugrl_tui.core.launcher import Launched
from tests.tui.run_folders import make_run

HERE: dict[str, Any] = {"pid": os.getpid(), "pid_started": own_start(), "pid_birth": own_birth()}

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    """A start whose process waits, and which has written no record yet."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield Launched(
        pid=process.pid,
        log=tmp_path / "a.log",
        run_dir=tmp_path / "ppo" / "gaussian-policy" / "mine",
    )
    process.kill()
    process.communicate()


def test_where_nothing_goes_on_nothing_is_told(tmp_path):
    assert going_on() == ""
    make_run(tmp_path, "done")
    make_run(tmp_path, "lost", state=RunState.RUNNING)
    assert going_on() == ""


def test_a_run_that_goes_on_is_told_with_the_way_back(tmp_path):
    make_run(tmp_path, "mine", state=RunState.RUNNING, step=2048, **HERE)
    words = f"mine goes on (step 2.05k); back to it: {runnable('plugrl-tui')} attach mine"
    assert going_on() == words


def test_the_clock_that_was_set_silences_nothing(tmp_path):
    if own_birth() is None:
        pytest.skip("this system tells no birth of a process")
    stepped = HERE | {"pid_started": own_start() - 3600}
    make_run(tmp_path, "mine", state=RunState.RUNNING, **stepped)
    assert going_on().startswith("mine goes on")


def test_of_many_runs_the_first_are_told_and_how_many_more_there_are(tmp_path):
    for number in range(7):
        make_run(tmp_path, f"run-{number}", state=RunState.WAITING, **HERE)
    lines = going_on().splitlines()
    assert len(lines) == 6
    assert lines[-1] == f"and 2 more go on: {runnable('plugrl-tui')} runs"


def test_a_run_that_still_starts_is_told_until_it_has_a_record_or_has_ended(tmp_path, launched):
    assert going_on([launched]) == (
        f"mine goes on starting (process {launched.pid}, its log: {launched.log}); "
        "plugrl-tui lists it once its server listens"
    )
    folder = make_run(tmp_path, "mine", state=RunState.RUNNING, **HERE)
    assert going_on([launched]).startswith("mine goes on (step")
    update_status(folder, state=RunState.STOPPED)
    assert going_on([launched]).startswith("mine goes on starting"), "it is being resumed"
    os.kill(launched.pid, 9)
    os.waitid(os.P_PID, launched.pid, os.WEXITED | os.WNOWAIT)
    assert going_on([launched]) == ""


def test_a_catalogue_that_cannot_be_read_is_told(tmp_path, own_home, monkeypatch):
    def refused() -> None:
        raise PermissionError(13, "Permission denied", str(own_home))

    monkeypatch.setattr("plugrl_tui.core.going_on.find_runs", refused)
    assert "can't be read: [Errno 13] Permission denied" in going_on()
