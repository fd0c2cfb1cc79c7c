import os
import time

import pytest

from plugrl.cli import chronicle as chronicle_module
from plugrl.cli.chronicle import Chronicle
from plugrl.cli.supervision import Ending, Outcome
from plugrl.runs import records
from plugrl.runs.records import RunState, RunStatus

CRASH = Ending(attempt=1, outcome=Outcome.FAILED, exit_code=137, reason="ended by SIGKILL")


@pytest.fixture
async def chronicle(tmp_path) -> Chronicle:
    """Of a run whose first server listens."""
    made = Chronicle(tmp_path)
    await made.begins(1)
    records.write_status(tmp_path, RunStatus(state=RunState.RUNNING, step=5, url="ws://x:1"))
    made.listening(1, "ws://x:1")
    return made


async def test_a_crash_with_another_attempt_to_come_is_an_event_and_a_wait(tmp_path, chronicle):
    await chronicle.ended(CRASH, pause_s=1.5)
    (event,) = records.read_events(tmp_path)
    assert (event.event, event.attempt, event.step) == ("crashed", 1, 5)
    assert event.details == {"why": "ended by SIGKILL", "exit_code": 137, "pause_s": 1.5}
    status = records.read_status(tmp_path)
    assert (status.state, status.reason, status.url) == (RunState.WAITING, CRASH.reason, None)
    await chronicle.begins(2)
    status = records.read_status(tmp_path)
    assert (status.state, status.attempt) == (RunState.STARTING, 2)
    assert status.reason == "ended by SIGKILL; attempt 2 is starting"


@pytest.mark.parametrize(
    ("outcome", "state", "events"),
    [
        (Outcome.DONE, RunState.DONE, ["done"]),
        (Outcome.STOPPED, RunState.STOPPED, ["stopped"]),
        (Outcome.FAILED, RunState.FAILED, ["crashed", "failed"]),
    ],
)
async def test_the_end_is_written_where_the_server_did_not(
    tmp_path, chronicle, outcome, state, events
):
    ending = Ending(attempt=1, outcome=outcome, exit_code=3, reason="why")
    await chronicle.ended(ending, pause_s=None)
    told = records.read_events(tmp_path)
    assert [e.event for e in told] == events
    assert {e.details["why"] for e in told} == {"why"}
    status = records.read_status(tmp_path)
    assert (status.state, status.exit_code, status.reason) == (state, 3, "why")


async def test_an_end_that_the_server_has_told_is_not_told_again(tmp_path, chronicle):
    records.append_event(tmp_path, records.Event(event="done", attempt=1, step=9))
    await chronicle.ended(Ending(attempt=1, outcome=Outcome.DONE, exit_code=0), pause_s=None)
    assert [e.step for e in records.read_events(tmp_path)] == [9]


async def test_a_folder_that_no_server_of_ours_has_opened_is_left_alone(tmp_path):
    chronicle = Chronicle(tmp_path)
    await chronicle.begins(1)
    await chronicle.ended(CRASH, pause_s=None)
    assert list(tmp_path.iterdir()) == []


def test_attempts_are_counted_on_from_those_before(tmp_path):
    records.write_status(tmp_path, RunStatus(state=RunState.STOPPED, attempt=3))
    assert Chronicle(tmp_path).number(1) == 4


async def test_trouble_with_the_disk_is_told_once_and_ends_nothing(tmp_path, chronicle, caplog):
    (tmp_path / records.STATUS_FILE).unlink()
    await chronicle.begins(2)
    await chronicle.ended(CRASH, pause_s=None)
    assert [r.message for r in caplog.records if "NOT WRITTEN" in r.message] == caplog.messages
    assert len(caplog.messages) == 1


async def test_events_that_cannot_be_read_do_not_keep_the_end_from_being_written(
    tmp_path, chronicle
):
    (tmp_path / records.EVENTS_FILE).mkdir()
    await chronicle.ended(Ending(attempt=1, outcome=Outcome.DONE, exit_code=0), pause_s=None)
    assert records.read_status(tmp_path).state is RunState.DONE


async def test_a_disk_that_hangs_is_waited_for_no_longer_than_a_limit(
    tmp_path, chronicle, caplog, monkeypatch
):
    monkeypatch.setattr(chronicle_module, "WRITE_TIMEOUT_S", 0.2)
    # Whoever opens it to read waits until somebody opens it to write.
    (tmp_path / records.STATUS_FILE).unlink()
    os.mkfifo(tmp_path / records.STATUS_FILE)
    began = time.monotonic()
    await chronicle.ended(CRASH, pause_s=1.0)
    await chronicle.begins(2)
    assert time.monotonic() - began < 10
    assert "the disk takes longer than 0.2 s" in caplog.text
    writing = os.open(tmp_path / records.STATUS_FILE, os.O_WRONLY)
    (tmp_path / records.STATUS_FILE).unlink()
    os.close(writing)
