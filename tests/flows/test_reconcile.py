"""Lost runs on disk, and flow runs that a real Prefect API thinks alive."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from prefect import get_client
from prefect.states import Cancelling

from flows.reconcile import reconcile
from plugrl.runs import files, liveness, records
from plugrl.runs.prefect_api import API_VARIABLE
from plugrl.runs.records import RunState
from tests.flows.runs_by_hand import GONE, begin, make_run


@pytest.fixture(autouse=True)
def own_home(prefect_api, tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))


def alive() -> dict[str, object]:
    return {"pid": os.getpid(), "pid_started": liveness.own_start()}


def state_of(flow_run_id: str) -> tuple[str | None, str | None]:
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(uuid.UUID(flow_run_id)).state
        assert state is not None
        return state.type.value, state.message


def test_a_run_whose_process_is_gone_gets_its_final_record_and_its_flow_runs_crashed(tmp_path):
    parent, child = begin()
    folder = make_run(tmp_path, "one", RunState.RUNNING, **GONE, flow_run_id=parent)
    done = reconcile()
    assert done.runs == (folder,)
    assert set(done.flow_runs) == {parent, child}
    status = records.read_status(folder)
    why = f"its process (pid {GONE['pid']}) was gone without a last word"
    assert status.state is RunState.FAILED
    assert status.reason == f"{why}; the last checkpoint is of step 2,048"
    event = records.read_events(folder)[-1]
    assert (event.event, event.details) == ("failed", {"why": why})
    assert state_of(parent) == ("CRASHED", status.reason)
    assert state_of(child) == ("CRASHED", status.reason)
    assert reconcile() == type(done)(runs=(), flow_runs=())


def test_a_run_whose_process_lives_is_left_alone(tmp_path):
    parent, child = begin()
    folder = make_run(tmp_path, "one", RunState.RUNNING, **alive(), flow_run_id=parent)
    done = reconcile()
    assert folder not in done.runs
    assert not {parent, child} & set(done.flow_runs)
    assert records.read_status(folder).state is RunState.RUNNING
    assert state_of(parent)[0] == "RUNNING"


def test_a_pid_that_another_process_has_now_does_not_keep_a_run_alive(tmp_path):
    reused = {"pid": os.getpid(), "pid_started": liveness.own_start() - 3600}
    folder = make_run(tmp_path, "one", RunState.WAITING, **reused)
    assert reconcile().runs == (folder,)


def test_a_clock_that_was_set_since_a_run_began_does_not_end_it(tmp_path):
    if (birth := liveness.own_birth()) is None:
        pytest.skip("this system tells no birth of a process")
    stepped = {"pid": os.getpid(), "pid_started": liveness.own_start() - 3600, "pid_birth": birth}
    folder = make_run(tmp_path, "one", RunState.WAITING, **stepped)
    assert reconcile().runs == ()
    assert records.read_status(folder).state is RunState.WAITING


def test_a_server_that_outlives_its_supervisor_is_left_to_save(tmp_path):
    server_lives = {"server_pid": os.getpid(), "server_pid_started": liveness.own_start()}
    folder = make_run(tmp_path, "one", RunState.RUNNING, **GONE, **server_lives)
    assert reconcile().runs == ()
    assert records.read_status(folder).state is RunState.RUNNING


def test_a_run_of_another_machine_is_left_alone(tmp_path):
    make_run(tmp_path, "one", RunState.RUNNING, **GONE, host="another-machine")
    assert reconcile().runs == ()


@pytest.mark.parametrize(
    ("state", "told"), [(RunState.DONE, "COMPLETED"), (RunState.STOPPED, "CANCELLED")]
)
def test_a_run_that_ended_while_prefect_was_away_is_told_to_it_later(tmp_path, state, told):
    parent, _ = begin(Cancelling())
    make_run(tmp_path, "one", state, **GONE, flow_run_id=parent, reason="so it was")
    assert reconcile().runs == ()
    assert state_of(parent) == (told, "so it was")


def test_a_process_that_is_about_to_tell_prefect_of_its_end_is_not_forestalled(tmp_path):
    parent, _ = begin()
    make_run(tmp_path, "one", RunState.FAILED, **alive(), flow_run_id=parent)
    assert parent not in reconcile().flow_runs
    assert state_of(parent)[0] == "RUNNING"


def test_the_flow_run_before_a_resume_by_hand_is_told_too(tmp_path):
    before, _ = begin()
    now, _ = begin()
    folder = make_run(tmp_path, "one", RunState.RUNNING, **alive(), flow_run_id=now)
    listening = records.Event(event="listening", attempt=1, step=0, details={"flow_run_id": before})
    records.append_event(folder, listening)
    reconcile()
    assert state_of(before)[0] == "CRASHED"
    assert state_of(now)[0] == "RUNNING"


def test_flow_runs_that_no_run_of_ours_names_are_left_alone(tmp_path):
    stranger, _ = begin()
    reconcile()
    assert state_of(stranger)[0] == "RUNNING"


def test_without_an_api_the_records_are_written_all_the_same(
    tmp_path, monkeypatch, free_port: Callable[[], int]
):
    monkeypatch.setenv(API_VARIABLE, f"http://127.0.0.1:{free_port()}/api")
    folder = make_run(tmp_path, "one", RunState.RUNNING, **GONE, flow_run_id=str(uuid.uuid4()))
    done = reconcile()
    assert (done.runs, done.flow_runs) == ((folder,), ())


def test_a_record_that_cannot_be_written_is_named_and_the_others_are_settled(
    tmp_path, monkeypatch, caplog
):
    broken = make_run(tmp_path, "broken", RunState.RUNNING, **GONE)
    other = make_run(tmp_path, "other", RunState.RUNNING, **GONE)
    write = files.write_json

    def full(path: Path, data: object) -> None:
        if path.parent == broken:
            raise OSError("No space left on device")
        write(path, data)

    monkeypatch.setattr(records, "write_json", full)
    assert reconcile().runs == (other,)
    assert f"the lost run {broken} keeps its old record" in caplog.text
