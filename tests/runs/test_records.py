import errno
import json
import math
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from plugrl.errors import RunRecordError
from plugrl.runs import records
from plugrl.runs.records import Checkpoint, Event, RunRecord, RunState, RunStatus

RECORD = RunRecord(
    exp_name="hopper-1",
    policy="gaussian-policy",
    policy_variant="default",
    algorithm="ppo",
    algorithm_variant="default",
    env="hopper",
    argv=("plugrl", "launch", "--env", "hopper"),
    config={"algo": {"gamma": 0.99, "max_grad_norm": None}},
    seed=3,
    total_steps=1_000_000,
    created_at=1000.5,
    parent_checkpoint="/runs/a/1024",
    versions={"plugrl": "0.1.0"},
)
STATUS = RunStatus(
    state=RunState.RUNNING,
    phase="learn",
    step=4096,
    total_steps=1_000_000,
    num_learns=2,
    attempt=3,
    host="box",
    pid=12,
    pid_started=99.25,
    pid_birth="b:9925",
    server_pid=13,
    server_pid_started=99.5,
    server_pid_birth="b:9950",
    url="ws://127.0.0.1:8000",
    last_checkpoint=Checkpoint("/runs/b/2048", 2048),
    updated_at=123.5,
    flow_run_id="f",
    flow_run_url="http://127.0.0.1:1/runs/flow-run/f",
)


def test_a_record_and_a_status_are_read_as_they_were_written(tmp_path):
    records.write_run(tmp_path, RECORD)
    records.write_status(tmp_path, STATUS)
    assert records.read_run(tmp_path) == RECORD
    assert records.read_status(tmp_path) == STATUS
    assert sorted(f.name for f in tmp_path.iterdir()) == ["run.json", "status.json"]


def test_a_status_of_before_there_were_births_is_read(tmp_path):
    records.write_status(tmp_path, STATUS)
    path = tmp_path / "status.json"
    data = json.loads(path.read_text())
    del data["pid_birth"], data["server_pid_birth"]
    path.write_text(json.dumps(data))
    assert records.read_status(tmp_path) == replace(STATUS, pid_birth=None, server_pid_birth=None)


def test_a_resumed_run_keeps_the_moment_it_was_created(tmp_path):
    records.write_run(tmp_path, RECORD)
    records.write_run(tmp_path, replace(RECORD, created_at=2000.0, argv=("again",)))
    assert records.read_run(tmp_path) == replace(RECORD, argv=("again",))


def test_a_damaged_record_is_written_anew_with_a_warning(tmp_path, caplog):
    (tmp_path / "run.json").write_text("{")
    records.write_run(tmp_path, RECORD)
    assert records.read_run(tmp_path) == RECORD
    assert "expected a JSON object" in caplog.text


def test_what_json_cannot_say_is_written_as_text(tmp_path):
    config = {"algo": {"limit": math.inf, "folder": Path("a/b"), "sizes": (8, 8)}}
    records.write_run(tmp_path, replace(RECORD, config=config))
    read = json.loads((tmp_path / "run.json").read_text())
    assert read["config"] == {"algo": {"limit": "inf", "folder": "a/b", "sizes": [8, 8]}}


def test_an_update_changes_its_fields_and_the_time_alone(tmp_path):
    records.write_status(tmp_path, STATUS)
    updated = records.update_status(tmp_path, state=RunState.FAILED, exit_code=1)
    assert updated.updated_at > STATUS.updated_at
    assert records.read_status(tmp_path) == updated
    assert replace(updated, updated_at=123.5) == replace(STATUS, state=RunState.FAILED, exit_code=1)


def test_a_reader_never_sees_half_a_status(tmp_path):
    records.write_status(tmp_path, STATUS)
    done = threading.Event()

    def write() -> None:
        for step in range(300):
            records.write_status(tmp_path, replace(STATUS, step=step, reason="x" * step))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(len(records.read_status(tmp_path).reason or ""))
    writer.join()
    assert records.read_status(tmp_path).step == 299
    assert seen <= set(range(300))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"version": 2}, "expected version 1, got 2"),
        ({"step": "many"}, "expected int, got 'many', at .*status.json: step"),
        ({"step": True}, "expected int, got True"),
        ({"state": "HAPPY"}, "expected RunState, got 'HAPPY'"),
        ({"pid_started": "early"}, "expected float, got 'early'"),
        ({"last_checkpoint": [3]}, "expected Checkpoint"),
        ({"last_checkpoint": {"step": 3}}, "expected the field 'path'"),
        ({"last_checkpoint": {"path": 1, "step": 3}}, "expected str, got 1"),
    ],
)
def test_a_status_of_another_shape_is_refused_by_name(tmp_path, change, complaint):
    records.write_status(tmp_path, STATUS)
    path = tmp_path / "status.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(RunRecordError, match=complaint):
        records.read_status(tmp_path)


def test_a_field_of_a_later_version_is_left_out_and_a_missing_one_is_named(tmp_path):
    records.write_run(tmp_path, RECORD)
    path = tmp_path / "run.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "colour": "blue"}))
    assert records.read_run(tmp_path) == RECORD
    del data["policy"]
    path.write_text(json.dumps(data))
    with pytest.raises(RunRecordError, match="expected the field 'policy', got none"):
        records.read_run(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00\xff", "[" * 100_000])
def test_a_damaged_file_is_refused_with_its_path(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunRecordError, match=r"expected a JSON object.*run\.json"):
        records.read_run(tmp_path)


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        records.read_status(tmp_path)


def test_attempts_are_counted_from_one(tmp_path):
    assert records.next_attempt(tmp_path) == 1
    records.write_status(tmp_path, STATUS)
    assert records.next_attempt(tmp_path) == 4


def test_events_are_read_in_order_and_a_broken_line_is_left_out(tmp_path):
    first = Event(event="started", attempt=1, step=0, time=10.0)
    second = Event(
        event="saved", attempt=1, step=64, time=11.5, details={"path": "64", "seconds": math.nan}
    )
    records.append_event(tmp_path, first)
    with (tmp_path / "events.jsonl").open("a") as killed:
        killed.write('{"time": 10.7, "event": "x", "attempt": 1, "step": Infinity}\n')
        killed.write('{"time": 10.7, "ev')
    records.append_event(tmp_path, second)
    read = records.read_events(tmp_path)
    assert read == [first, replace(second, details={"path": "64", "seconds": "nan"})]


def test_a_run_without_events_has_none(tmp_path):
    assert records.read_events(tmp_path) == []


def test_a_status_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path, monkeypatch):
    records.write_status(tmp_path, STATUS)

    def full(path: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            records.write_status(tmp_path, replace(STATUS, step=1))
    assert records.read_status(tmp_path) == STATUS
    assert [file.name for file in tmp_path.iterdir()] == ["status.json"]
