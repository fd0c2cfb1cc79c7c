"""The stages of a start, without one: from a log, a status and an exit code."""

import os
from pathlib import Path

import pytest

from plugrl.runs.records import RunState, RunStatus, write_status
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.stages import Progress
from plugrl_tui.core.starting import Start

NOW = 1_800_000_000.0


@pytest.fixture
def start(tmp_path: Path) -> Start:
    log = tmp_path / "log"
    log.write_text("starting the local Prefect API\n")
    launched = Launched(pid=_child(), log=log, run_dir=tmp_path)
    return Start(launched, with_prefect=True, clock=lambda: NOW)


def _child() -> int:
    """A process of ours that ends with code 3."""
    return os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], os.environ)


def progress(start: Start) -> list[Progress]:
    return [stage.progress for stage in start.look().stages]


def wait(start: Start) -> None:
    while start.launched.exit_code() is None:
        os.sched_yield()


def test_a_flow_that_begins_has_passed_prefect(start: Start) -> None:
    with start.launched.log.open("a") as log:
        log.write("05:27:17 INFO Beginning flow run 'x' for flow 'train'\n")
    assert progress(start)[:2] == [Progress.DONE, Progress.DONE]


def test_an_earlier_runs_status_is_not_taken_for_this_ones(start: Start, tmp_path: Path) -> None:
    write_status(tmp_path, RunStatus(state=RunState.STOPPED, updated_at=NOW - 60))
    assert not start.look().listening
    write_status(tmp_path, RunStatus(state=RunState.WAITING, updated_at=NOW + 1))
    look = start.look()
    assert look.listening
    assert [stage.progress for stage in look.stages] == [Progress.DONE] * 3 + [Progress.NOW]


def test_an_end_before_listening_tells_the_last_error(start: Start) -> None:
    with start.launched.log.open("a") as log:
        log.write("plugrl-flow train: error: no such env\nbye\n")
    wait(start)
    look = start.look()
    assert look.complaint == "exit code 3: plugrl-flow train: error: no such env"
    assert progress(start)[1] is Progress.FAILED
