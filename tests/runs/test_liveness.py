import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from plugrl.runs import liveness
from plugrl.runs.records import RunState, RunStatus


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for its end."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child
        child.kill()


def test_a_living_process_is_the_one_that_began_then(process):
    started = liveness.started_at(process.pid)
    assert liveness.process_is(process.pid, started)
    assert liveness.process_is(process.pid, None)


def test_a_process_with_the_same_pid_that_began_later_is_another(process):
    started = liveness.started_at(process.pid)
    assert started is not None
    assert not liveness.process_is(process.pid, started - 60)


def test_a_process_that_ended_is_gone_even_before_it_was_waited_for(process):
    started = liveness.started_at(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not liveness.process_is(process.pid, started)
    process.wait()
    assert not liveness.process_is(process.pid, started)
    assert liveness.started_at(process.pid) is None


@pytest.mark.parametrize("pid", [None, 0, -1, 2**22 + 1])
def test_what_is_no_pid_is_no_process(pid):
    assert not liveness.process_is(pid, None)


def status(state: RunState, **fields: object) -> RunStatus:
    mine = {"pid": os.getpid(), "pid_started": liveness.own_start(), "host": liveness.this_host()}
    return RunStatus(state=state, **{**mine, **fields})  # type: ignore[arg-type]


def test_a_run_whose_process_lives_is_as_it_says():
    for state in (RunState.STARTING, RunState.RUNNING, RunState.WAITING, RunState.STOPPING):
        assert liveness.observed_state(status(state), time.time()) is state


def test_a_run_whose_process_is_gone_is_lost():
    lost = status(RunState.RUNNING, pid_started=liveness.own_start() - 3600)
    assert liveness.observed_state(lost, time.time()) is RunState.LOST


@pytest.mark.parametrize("state", [RunState.DONE, RunState.STOPPED, RunState.FAILED])
def test_a_final_state_stands_when_the_process_is_gone(state):
    assert liveness.observed_state(status(state, pid=None), time.time()) is state


def test_a_silent_server_is_stalled_and_a_supervisor_between_attempts_is_not():
    later = time.time() + liveness.STALLED_AFTER_S + 1
    assert liveness.observed_state(status(RunState.RUNNING), later) is RunState.STALLED
    for_clients = status(RunState.WAITING, url="ws://127.0.0.1:1")
    assert liveness.observed_state(for_clients, later) is RunState.STALLED
    assert liveness.observed_state(status(RunState.WAITING), later) is RunState.WAITING


def test_the_pids_of_another_machine_mean_nothing_here():
    elsewhere = status(RunState.RUNNING, pid=None, host="another-machine")
    assert liveness.observed_state(elsewhere, time.time()) is RunState.RUNNING


def test_a_run_without_a_status_left_no_last_word():
    assert liveness.observed_state(None, time.time()) is RunState.LOST
