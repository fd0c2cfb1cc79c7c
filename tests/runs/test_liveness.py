import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from plugrl.runs import liveness
from plugrl.runs.records import RunState, RunStatus

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems tell no birth")


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


@linux
@pytest.mark.parametrize("step_s", [-86_400, -3, 3, 3600])
def test_a_clock_that_is_set_makes_no_process_another(process, monkeypatch, step_s):
    started, birth = liveness.started_at(process.pid), liveness.birth_of(process.pid)
    booted = psutil.boot_time() + step_s
    monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: booted)
    assert liveness.started_at(process.pid) == pytest.approx(started + step_s, abs=1)
    assert liveness.process_is(process.pid, started, birth)
    assert not liveness.process_is(process.pid, started), "which only the clock could tell"


@linux
def test_a_process_with_the_same_pid_of_another_boot_or_moment_is_another(process):
    started, birth = liveness.started_at(process.pid), liveness.birth_of(process.pid)
    assert birth is not None
    boot, _, ticks = birth.partition(":")
    assert boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert not liveness.process_is(process.pid, started, f"{boot}:{int(ticks) + 1}")
    other = "00000000-0000-4000-8000-000000000000"
    assert not liveness.process_is(process.pid, started, f"{other}:{ticks}")


@linux
def test_a_process_s_name_does_not_spoil_its_birth(tmp_path):
    program = tmp_path / "a) R 1 (2"
    shutil.copy(shutil.which("cat") or "cat", program)
    with subprocess.Popen([program], stdin=subprocess.PIPE) as child:
        try:
            ticks = (liveness.birth_of(child.pid) or "").partition(":")[2]
            seconds = int(ticks) / os.sysconf("SC_CLK_TCK")
            assert psutil.boot_time() + seconds == pytest.approx(time.time(), abs=60)
            assert liveness.process_is(child.pid, None, liveness.birth_of(child.pid))
        finally:
            child.kill()


def test_where_the_system_tells_no_birth_the_clock_has_to(process, monkeypatch, tmp_path):
    birth = liveness.birth_of(process.pid)
    monkeypatch.setattr(liveness, "_BOOT_ID", str(tmp_path / "none"))
    started = liveness.started_at(process.pid)
    assert liveness.birth_of(process.pid) is None
    assert started is not None
    assert liveness.process_is(process.pid, started, birth)
    assert not liveness.process_is(process.pid, started - 60, birth)


def test_a_process_that_ended_is_gone_even_before_it_was_waited_for(process):
    started = liveness.started_at(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not liveness.process_is(process.pid, started)
    process.wait()
    assert not liveness.process_is(process.pid, started)
    assert liveness.started_at(process.pid) is None
    assert liveness.birth_of(process.pid) is None


@pytest.mark.parametrize("pid", [None, 0, -1, 2**22 + 1])
def test_what_is_no_pid_is_no_process(pid):
    assert not liveness.process_is(pid, None)


def status(state: RunState, **fields: object) -> RunStatus:
    mine = {"pid": os.getpid(), "pid_started": liveness.own_start(), "host": liveness.this_host()}
    return RunStatus(state=state, **{**mine, **fields})  # type: ignore[arg-type]


def test_a_run_whose_process_lives_is_as_it_says():
    for state in (RunState.STARTING, RunState.RUNNING, RunState.WAITING, RunState.STOPPING):
        assert liveness.observed_state(status(state), time.time()) is state


@linux
def test_a_run_is_not_lost_when_the_clock_was_set_since_it_began():
    stepped = status(
        RunState.RUNNING,
        pid_started=liveness.own_start() - 3600,
        pid_birth=liveness.own_birth(),
    )
    assert liveness.observed_state(stepped, time.time()) is RunState.RUNNING
    assert liveness.living_pids(stepped) == [os.getpid()]
    rebooted = replace(stepped, pid_started=liveness.own_start(), pid_birth="another-boot:1")
    assert liveness.observed_state(rebooted, time.time()) is RunState.LOST
    assert liveness.living_pids(rebooted) == []


def test_a_run_s_living_processes_are_named_once_and_its_owner_first(process):
    mine = status(RunState.RUNNING, server_pid=process.pid)
    assert liveness.living_pids(mine) == [os.getpid(), process.pid]
    alone = replace(mine, server_pid=os.getpid())
    assert liveness.living_pids(alone) == [os.getpid()]
    outlived = replace(mine, pid=2**22 + 1)
    assert liveness.living_pids(outlived) == [process.pid]


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
