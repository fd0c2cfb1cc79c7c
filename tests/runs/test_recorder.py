import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plugrl.runs import catalog, liveness, records
from plugrl.runs import recorder as recorder_module
from plugrl.runs.provenance import Owner
from plugrl.runs.recorder import Ending, Progress, RunRecorder
from plugrl.runs.records import Checkpoint, RunRecord, RunState, RunStatus

RECORD = RunRecord(
    exp_name="exp",
    policy="p",
    policy_variant="default",
    algorithm="a",
    algorithm_variant="default",
    total_steps=100,
)
URL = "ws://127.0.0.1:8000"
DONE = Ending(RunState.DONE, None, 0)
TIMEOUT_S = 60.0


class Server:
    """What a recorder looks at."""

    def __init__(self) -> None:
        self.progress = Progress("collect", 0, 0, 1, collecting=True, stopping=False)

    def __call__(self) -> Progress:
        return self.progress


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def run_dir(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(recorder_module, "TICK_S", 0.05)
    monkeypatch.setattr(recorder_module, "IDLE_TICK_S", 0.1)
    folder: Path = tmp_path / "exp"
    folder.mkdir()
    return folder


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline, "it never held"
        time.sleep(0.01)


def status_when(run_dir: Path, holds: Callable[[RunStatus], bool]) -> RunStatus:
    """The status once it exists and ``holds``."""

    def there() -> bool:
        return (run_dir / "status.json").exists() and holds(records.read_status(run_dir))

    wait_until(there)
    return records.read_status(run_dir)


def test_a_run_without_a_supervisor_is_told_from_listening_to_its_end(run_dir, server):
    recorder = RunRecorder(run_dir, None, server)
    recorder.log("built")
    recorder.event("started", step=0)
    assert list(run_dir.iterdir()) == []
    recorder.open(RECORD, URL)
    running = status_when(run_dir, lambda s: s.state is RunState.RUNNING)
    assert (running.url, running.total_steps, running.attempt) == (URL, 100, 1)
    assert running.pid == running.server_pid == os.getpid()
    assert liveness.observed_state(running, time.time()) is RunState.RUNNING
    server.progress = Progress("save", 64, 2, 1, collecting=False, stopping=False)
    recorder.saved(Checkpoint("/exp/64", 64))
    recorder.event("saved", step=64, path="/exp/64")
    saved = status_when(run_dir, lambda s: s.last_checkpoint is not None)
    assert saved.last_checkpoint == Checkpoint("/exp/64", 64)
    recorder.close(DONE)
    ended = records.read_status(run_dir)
    assert (ended.state, ended.step, ended.num_learns) == (RunState.DONE, 64, 2)
    assert (ended.exit_code, ended.url, ended.reason) == (0, None, None)
    assert records.read_run(run_dir) == RECORD
    assert [(e.event, e.step, e.attempt) for e in records.read_events(run_dir)] == [
        ("started", 0, 1),
        ("saved", 64, 1),
    ]
    log = (run_dir / "log.txt").read_text().splitlines()
    assert log[0].startswith("==== attempt 1, ")
    assert log[1:] == ["built"]
    assert [run.path for run in catalog.find_runs().found] == [run_dir]


def test_a_run_that_has_ended_is_at_the_step_it_can_be_resumed_from(run_dir, server):
    server.progress = server.progress._replace(step=100)
    recorder = RunRecorder(run_dir, None, server)
    recorder.open(RECORD, URL)
    assert status_when(run_dir, lambda s: s.state is RunState.RUNNING).step == 100
    recorder.saved(Checkpoint("/exp/64", 64))
    recorder.close(DONE)
    assert records.read_status(run_dir).step == 64


def test_a_folder_that_was_deleted_under_a_run_is_a_run_again_once_it_is_back(run_dir, server):
    recorder = RunRecorder(run_dir, None, server)
    recorder.open(RECORD, URL)
    status_when(run_dir, lambda s: s.state is RunState.RUNNING)
    shutil.rmtree(run_dir)
    (run_dir / "64").mkdir(parents=True)  # as a checkpoint makes it
    server.progress = server.progress._replace(step=64)
    status_when(run_dir, lambda s: s.step == 64)
    recorder.close(DONE)
    assert records.read_run(run_dir) == RECORD
    assert [run.path for run in catalog.find_runs().found] == [run_dir]


def test_the_status_follows_the_server_without_being_told(run_dir, server):
    recorder = RunRecorder(run_dir, None, server)
    recorder.open(RECORD, URL)
    status_when(run_dir, lambda s: s.step == 0)
    server.progress = server.progress._replace(phase="learn", step=32, num_learns=1)
    assert status_when(run_dir, lambda s: s.step == 32).phase == "learn"
    server.progress = server.progress._replace(num_workers=0)
    assert status_when(run_dir, lambda s: s.state is RunState.WAITING).reason
    server.progress = server.progress._replace(stopping=True)
    status_when(run_dir, lambda s: s.state is RunState.STOPPING)
    recorder.close(Ending(RunState.STOPPED, "stopped on request", 0))
    assert records.read_status(run_dir).reason == "stopped on request"


class Pauses(threading.Event):
    """How long the recorder wants to wait each time; it waits less."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.asked.append(timeout)
        return super().wait(timeout / 10)


def test_a_server_that_does_nothing_is_looked_at_less_often(run_dir, server):
    recorder = RunRecorder(run_dir, None, server)
    pauses = recorder._woken = Pauses()
    recorder.open(RECORD, URL)
    wait_until(lambda: pauses.asked[-3:] == [0.1] * 3)
    server.progress = server.progress._replace(step=7)
    status_when(run_dir, lambda s: s.step == 7)
    wait_until(lambda: pauses.asked[-3:] == [0.1] * 3)
    # At once after what was new, the look that found it included.
    assert pauses.asked.count(0.05) >= 2
    recorder.log("a line that is not urgent")
    wait_until(lambda: "not urgent" in (run_dir / "log.txt").read_text())
    recorder.close(DONE)


def test_a_second_server_in_the_folder_is_the_second_attempt(run_dir, server):
    for _ in range(2):
        recorder = RunRecorder(run_dir, None, server)
        recorder.event("started")
        recorder.open(RECORD, URL)
        recorder.close(DONE)
    assert records.read_status(run_dir).attempt == 2
    assert [event.attempt for event in records.read_events(run_dir)] == [1, 2]
    assert (run_dir / "log.txt").read_text().count("==== attempt 2") == 1


def owner(**changes: object) -> Owner:
    mine: dict[str, object] = {
        "pid": os.getppid(),
        "pid_started": liveness.started_at(os.getppid()),
    }
    if not changes:
        mine["pid_birth"] = liveness.birth_of(os.getppid())
    fields = {**mine, "attempt": 4, "flow_run_id": "f", "flow_run_url": "http://f", **changes}
    return Owner(**fields)  # type: ignore[arg-type]


def test_under_a_supervisor_the_last_word_is_the_supervisors(run_dir, server):
    recorder = RunRecorder(run_dir, owner(), server)
    recorder.open(RECORD, URL)
    recorder.close(DONE)
    status = records.read_status(run_dir)
    assert status.state is RunState.STOPPING
    assert status.exit_code is None
    assert (status.pid, status.attempt) == (os.getppid(), 4)
    assert (status.flow_run_id, status.flow_run_url) == ("f", "http://f")
    assert status.server_pid == os.getpid()
    assert status.pid_birth == liveness.birth_of(os.getppid())
    assert status.server_pid_birth == liveness.own_birth()


def test_a_supervisor_is_there_whatever_the_clock_was_set_to_since(run_dir, server):
    birth = liveness.birth_of(os.getppid())
    if birth is None:
        pytest.skip("this system tells no birth of a process")
    recorder = RunRecorder(run_dir, owner(pid_started=1.0, pid_birth=birth), server)
    recorder.open(RECORD, URL)
    recorder.close(DONE)
    assert records.read_status(run_dir).state is RunState.STOPPING, "its last word is awaited"


def test_a_server_that_outlives_its_supervisor_has_the_last_word(run_dir, server):
    recorder = RunRecorder(run_dir, owner(pid_started=1.0), server)
    recorder.open(RECORD, URL)
    recorder.close(Ending(RunState.STOPPED, "stopped on request", 0))
    status = records.read_status(run_dir)
    assert status.state is RunState.STOPPED
    assert status.reason == f"its supervisor (pid {os.getppid()}) was gone; the server saved"


def test_what_the_disk_refuses_is_written_once_it_can_be(run_dir, server, caplog):
    recorder = RunRecorder(run_dir, None, server)
    shutil.rmtree(run_dir)
    recorder.event("started")
    recorder.open(RECORD, URL)
    wait_until(lambda: "RECORDS ARE NOT WRITTEN" in caplog.text)
    recorder.event("saved")
    run_dir.mkdir()
    status_when(run_dir, lambda s: s.state is RunState.RUNNING)
    recorder.close(DONE)
    assert [event.event for event in records.read_events(run_dir)] == ["started", "saved"]
    assert caplog.text.count("RECORDS ARE NOT WRITTEN") == 1


def test_a_catalogue_that_cannot_be_written_costs_the_run_nothing(
    run_dir, server, monkeypatch, caplog
):
    (run_dir / "file").touch()
    monkeypatch.setenv("PLUGRL_HOME", str(run_dir / "file"))
    recorder = RunRecorder(run_dir, None, server)
    recorder.open(RECORD, URL)
    recorder.close(DONE)
    assert records.read_status(run_dir).state is RunState.DONE
    assert "not in the catalogue" in caplog.text


def test_a_mistake_in_the_recorder_ends_the_records_alone(run_dir, caplog):
    def broken() -> Progress:
        raise ZeroDivisionError

    recorder = RunRecorder(run_dir, None, broken)
    recorder.open(RECORD, URL)
    recorder.close(DONE)
    assert "records are not written any more" in caplog.text


def test_a_recorder_that_was_never_opened_leaves_no_trace(run_dir, server):
    recorder = RunRecorder(run_dir, None, server)
    recorder.event("started")
    recorder.close(Ending(RunState.FAILED, "the port is taken", 1))
    assert list(run_dir.iterdir()) == []


def test_what_a_killed_writer_left_in_the_folder_is_gone_when_the_run_goes_on(run_dir, server):
    left = [run_dir / f".{name}.json.{2**22 + 1}-0123abcd" for name in ("status", "run")]
    for path in left:
        path.touch()
    recorder = RunRecorder(run_dir, None, server)
    recorder.open(RECORD, URL)
    recorder.close(DONE)
    assert not any(path.exists() for path in left)
