"""One run as it is known: what is live, what is old, and what is said of it."""

import os
from dataclasses import replace

import pytest

from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import Checkpoint, RunRecord, RunState, RunStatus
from plugrl_tui import plain
from plugrl_tui.core.curves import RETURN
from plugrl_tui.core.feed_demo import DemoServer, begin, played
from plugrl_tui.core.model import LOST_AFTER_S, STALE_AFTER_S, Link, Part, RunModel
from plugrl_tui.core.snapshot import LogLine, Process, Snapshot
from tests.tui.clock import NOW, Clock


def status(**changes) -> RunStatus:
    usual = RunStatus(
        state=RunState.RUNNING,
        step=500,
        total_steps=1000,
        updated_at=NOW,
        pid=os.getpid(),
        pid_started=own_start(),
        host=this_host(),
    )
    return replace(usual, **changes)


def live(**changes) -> RunModel:
    """A model that has just seen a snapshot, changed as told."""
    model = played(3, clock=Clock())
    assert model.snapshot is not None
    model.take_snapshot(model.snapshot._replace(**changes))
    return model


def snapshot_of(model: RunModel) -> Snapshot:
    assert model.snapshot is not None
    return model.snapshot


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, RunState.RUNNING),
        ({"phase": "starting"}, RunState.STARTING),
        ({"workers": ()}, RunState.WAITING),
        ({"stopping": True}, RunState.STOPPING),
        ({"phase": "stopping"}, RunState.STOPPING),
        ({"phase": "finished", "stopping": True}, RunState.STOPPING),
        ({"phase": "finished"}, RunState.DONE),
    ],
)
def test_a_live_run_is_what_its_server_says(changes, state):
    assert live(**changes).verdict().state is state


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, RunState.RUNNING),
        ({"updated_at": NOW - 1000}, RunState.STALLED),
        ({"pid": 2**22 + 1, "updated_at": NOW - 9}, RunState.LOST),
        ({"pid": 2**22 + 1}, RunState.RUNNING),
        ({"state": RunState.FAILED, "reason": "it diverged"}, RunState.FAILED),
        ({"state": RunState.DONE}, RunState.DONE),
    ],
)
def test_a_run_without_a_server_is_what_its_folder_says(changes, state):
    model = RunModel("hopper", clock=Clock())
    model.status = status(**changes)
    verdict = model.verdict()
    assert verdict.state is state
    assert verdict.reason or state is RunState.RUNNING


def test_a_server_that_said_goodbye_is_done_with_all_steps_and_stopped_with_fewer():
    model = live()
    model.set_link(Link.ENDED)
    assert model.verdict().state is RunState.STOPPED
    counters = snapshot_of(model).counters._replace(global_step=1_000_000)
    model.snapshot = snapshot_of(model)._replace(counters=counters)
    assert model.verdict().state is RunState.DONE


def test_a_link_that_broke_says_why_and_leaves_the_state_as_last_seen():
    model = live()
    model.set_link(Link.RECONNECTING, "nothing listens there")
    assert model.verdict() == (RunState.RUNNING, "nothing listens there")
    assert RunModel("x").verdict().state is RunState.STARTING


def test_a_run_that_left_no_status_is_starting_for_a_moment_and_then_lost():
    clock = Clock()
    model = RunModel("x", clock=clock)
    model.record = RunRecord(
        exp_name="x",
        policy="p",
        policy_variant="default",
        algorithm="a",
        algorithm_variant="default",
        created_at=clock() - 1,
    )
    assert model.verdict().state is RunState.STARTING
    model.record = replace(model.record, created_at=clock() - LOST_AFTER_S - 1)
    assert model.verdict() == (RunState.LOST, "its status.json is missing or damaged")
    assert model.is_over


def test_what_is_shown_is_stale_after_a_while_and_when_the_link_is_gone():
    clock = Clock()
    model = played(1, clock=clock)
    assert model.stale is False
    clock.now += STALE_AFTER_S + 0.1
    late = model.stale
    clock.now = NOW
    model.set_link(Link.RECONNECTING)
    assert (late, model.stale, RunModel("never seen").stale) == (True, True, False)


def test_only_what_changed_has_a_new_revision():
    model = played(2, clock=Clock())
    before = dict(model.revisions)
    model.take_snapshot(snapshot_of(model))
    changed = {part for part in Part if model.revisions[part] != before[part]}
    assert changed == {Part.HEAD, Part.QUEUE, Part.LEARN}


def test_log_lines_are_taken_once_though_every_snapshot_repeats_them():
    model = RunModel("x", clock=Clock())
    first = DemoServer(start=NOW).advance(0.25)
    lines = tuple(LogLine(NOW, "INFO", f"line {n}") for n in range(3))
    model.take_snapshot(first._replace(log=lines[:2], log_lines=2))
    model.take_snapshot(first._replace(log=lines[:2], log_lines=2))
    model.take_snapshot(first._replace(log=lines[1:], log_lines=3))
    assert [line.text for line in model.log] == ["line 0", "line 1", "line 2"]
    model.take_snapshot(first._replace(log=lines[2:], log_lines=500))
    assert model.log_total == 4


def test_another_server_of_the_run_starts_its_workers_and_its_log_anew():
    model = played(2, clock=Clock())
    other = snapshot_of(model)._replace(
        process=Process(pid=2), log=(LogLine(NOW, "INFO", "again"),), log_lines=1, workers=()
    )
    model.take_snapshot(other)
    assert model.log[-1].text == "again"
    assert model.workers.num_seen == 0


def test_a_restart_from_an_earlier_step_cuts_the_curves_that_only_snapshots_tell():
    model = played(1, clock=Clock())
    run = snapshot_of(model).run._replace(start_step=8192 * 10)
    model.take_snapshot(snapshot_of(model)._replace(run=run, process=Process(pid=2)))
    assert model.curves.steps[-1] == 8192 * 10


def test_a_learn_adds_its_metrics_once():
    model = RunModel("x", clock=Clock())
    server = DemoServer(start=NOW)
    begin(model, server)
    num = len(model.curves.steps)
    for _ in range(4 * 20):
        model.take_snapshot(server.advance(0.25))
    learns = snapshot_of(model).counters.num_learns - 50
    assert learns == 2
    assert len(model.curves.steps) == num + learns


def test_metrics_of_the_folder_are_not_repeated_by_snapshots():
    model = RunModel("x", clock=Clock())
    model.curves_from_files = True
    model.take_snapshot(DemoServer(start=NOW).advance(0.25))
    assert model.curves.steps == []


def test_what_the_server_says_of_its_latest_learn_counts_before_a_file_that_has_no_room():
    model = RunModel("x", clock=Clock(), curves_from_files=True)
    assert model.latest(RETURN) is None
    model.take_snapshot(DemoServer(start=NOW).advance(0.25))
    told = snapshot_of(model).metrics[RETURN]
    model.add_metrics(1, NOW, {RETURN: -1.0})
    assert model.latest(RETURN) == told
    model.set_link(Link.RECONNECTING)
    assert model.latest(RETURN) == -1.0


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("ws://127.0.0.1:8000", "plugrl-run-env-client ENV"),
        ("ws://127.0.0.1:8123", "plugrl-run-env-client ENV --server-port 8123"),
        ("ws://box:8001", "plugrl-run-env-client ENV --server-host box --server-port 8001"),
        ("wss://box:8000", "plugrl-run-env-client ENV --server-host wss://box:8000"),
    ],
)
def test_the_command_for_an_env_client_names_what_is_not_usual(url, command):
    assert RunModel("x", url=url).client_command() == command


def test_the_command_for_an_env_client_names_the_env_that_the_server_tells():
    model = live(workers=())
    run = snapshot_of(model).run
    assert model.client_command().startswith("plugrl-run-env-client ENV")
    model.take_snapshot(snapshot_of(model)._replace(run=run._replace(env="hopper")))
    assert model.client_command().startswith("plugrl-run-env-client hopper")


def test_the_time_left_comes_from_the_pace_of_now():
    model = played(30, clock=Clock())
    left = 1_000_000 - snapshot_of(model).counters.global_step
    pace = model.rates.steps_per_second
    assert pace is not None
    assert model.eta_seconds() == pytest.approx(left / pace)
    model.set_link(Link.RECONNECTING)
    assert model.eta_seconds() is None


def test_before_the_first_learn_the_pace_says_little_of_the_time_left():
    model = played(30, clock=Clock())
    model.take_snapshot(snapshot_of(model)._replace(metrics={}))
    assert model.eta_seconds() is None


def test_a_run_that_stands_still_is_said_to_whatever_its_server_s_mean():
    model, source = RunModel("x", clock=Clock()), snapshot_of(live())
    mean = source.counters._replace(steps_per_second=812.0)
    model.set_link(Link.LIVE)
    model.take_snapshot(source._replace(counters=mean))
    assert "812 steps/s" in plain.line_of(model)
    model.take_snapshot(source._replace(counters=mean, time=source.time + 60))
    assert "| 0 steps/s" in plain.line_of(model)
    assert model.eta_seconds() is not None, "a long learn is no reason to know nothing"


def test_the_frames_of_a_learn_are_counted_between_learns_that_were_seen():
    model, server = RunModel("x", clock=Clock()), DemoServer(start=NOW)
    for _ in range(4 * 28):
        model.take_snapshot(server.advance(0.25))
    assert model.curves.frames_per_learn() == pytest.approx(8192, abs=400)
    model = RunModel("x", clock=Clock())
    model.take_snapshot(DemoServer(start=NOW).advance(0.25))
    assert model.curves.frames_per_learn() is None
    assert model.curves.last("train/entropy") is not None


def test_the_last_checkpoint_is_the_newer_of_what_the_server_and_the_folder_tell():
    model = live()
    told = snapshot_of(model).checkpoints[-1]
    assert model.checkpoint == told
    model.status = status(last_checkpoint=Checkpoint("x/1", told.step + 1))
    assert model.checkpoint is not None
    assert model.checkpoint.step == told.step + 1
    model.status = status(last_checkpoint=Checkpoint("x/1", told.step - 1))
    assert model.checkpoint == told
