"""What RUNS knows of runs, read from real folders."""

import dataclasses
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import Checkpoint, Event, RunState, RunStatus, append_event, write_status
from plugrl_tui.core.history import History, RunRow
from plugrl_tui.core.run_filter import matcher
from tests.tui import run_folders
from tests.tui.run_folders import write_metrics

pytestmark = pytest.mark.usefixtures("own_home")


def make_run(tmp_path: Path, name: str = "hopper-s3", **status: Any) -> Path:
    config = {"algo": {"learning_rate": 3e-4, "gamma": 0.9}, "run": {"seed": 3}}
    about = {"config": config, "flags": "--algo.gamma=0.9", "step": 2048, **status}
    return run_folders.make_run(tmp_path / "ckpt", name, **about)


def only_row(now: float | None = None) -> RunRow:
    (row,) = History().read(now).rows
    return row


def test_a_run_that_left_no_last_word_is_lost_and_can_be_resumed(tmp_path: Path) -> None:
    make_run(tmp_path, state=RunState.RUNNING, last_checkpoint=Checkpoint("x/1024", 1024))
    row = only_row()
    assert row.state is RunState.LOST
    assert row.reason == f"its process {2**22 + 1} is gone and left no last word"
    assert row.advice == "r resumes from step 1,024; enter shows its log"
    assert not row.lives


def test_a_run_whose_process_is_silent_is_stalled(tmp_path: Path) -> None:
    alive: dict[str, Any] = {"pid": os.getpid(), "pid_started": own_start(), "updated_at": 1000.0}
    make_run(tmp_path, state=RunState.RUNNING, **alive)
    row = only_row(now=1130.0)
    assert row.state is RunState.STALLED
    assert row.reason == "its process lives and has been silent for 2 min 10 s"
    assert row.lives


def test_how_many_runs_there_are_is_told_of_one_and_of_several(tmp_path: Path) -> None:
    nothing = History().read()
    assert nothing.summary() == ""
    assert nothing.summary(num_only_in_prefect=1) == "1 run, 1 only in Prefect"
    make_run(tmp_path, state=RunState.DONE)
    listing = History().read()
    assert listing.summary() == "1 run"
    assert listing.summary(num_only_in_prefect=1) == "2 runs, 0 of them live, 1 only in Prefect"
    make_run(tmp_path, "other", state=RunState.RUNNING, pid=os.getpid(), pid_started=own_start())
    listing = History().read()
    alone = dataclasses.replace(listing, rows=tuple(row for row in listing.rows if row.lives))
    assert alone.summary() == "1 run, live"
    assert listing.summary() == "2 runs, 1 of them live"
    assert listing.summary(num_only_in_prefect=1) == "3 runs, 1 of them live, 1 only in Prefect"


def test_whether_a_run_lives_is_looked_up_anew(tmp_path: Path) -> None:
    folder = make_run(tmp_path, state=RunState.STOPPED)
    row = only_row()
    assert not row.has_process()
    mine: dict[str, Any] = {"pid": os.getpid(), "pid_started": own_start(), "host": this_host()}
    write_status(folder, RunStatus(state=RunState.RUNNING, **mine))
    assert row.has_process()


@pytest.mark.parametrize(("age", "lives"), [(1.0, True), (3600.0, False)])
def test_a_run_of_another_machine_lives_while_it_says_so(
    tmp_path: Path, age: float, *, lives: bool
) -> None:
    about: dict[str, Any] = {"host": "elsewhere", "updated_at": time.time() - age}
    make_run(tmp_path, state=RunState.RUNNING, **about)
    assert only_row().has_process() is lives


def test_what_measured_is_typed_by_hand(tmp_path: Path) -> None:
    make_run(tmp_path, state=RunState.DONE, algorithm="eval")
    assert only_row().advice == "enter shows its log; y copies its command, which is typed by hand"


def test_a_failed_run_tells_its_last_error(tmp_path: Path) -> None:
    folder = make_run(tmp_path, state=RunState.FAILED, attempt=2)
    for why in ("out of memory", "exit code 139"):
        append_event(folder, Event(event="crashed", attempt=1, step=10, details={"why": why}))
    row = only_row()
    assert row.errors == ("out of memory", "exit code 139")
    assert row.reason == "exit code 139"
    assert row.advice == "N starts it anew; enter shows its log"


def test_returns_that_a_resume_has_superseded_are_gone(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    name = "rollout/episode_return_mean"
    write_metrics(
        folder,
        {"event": "started", "step": 0},
        {"step": 10, name: 1.0},
        {"step": 20, name: 2.0},
        {"step": 30, name: None},
        {"event": "resumed", "step": 10},
        {"step": 20, name: 5.0},
    )
    row = only_row()
    assert row.returns == (1.0, 5.0)
    assert row.last_return == 5.0


def test_a_second_look_sees_what_has_changed_and_else_returns_the_same(tmp_path: Path) -> None:
    make_run(tmp_path, "one")
    reader = History()
    first = reader.read()
    assert reader.read() is first
    second = make_run(tmp_path, "two")
    assert {row.name for row in reader.read().rows} == {"one", "two"}
    write_status(second, RunStatus(state=RunState.STOPPED, step=77))
    assert {row.step for row in reader.read().rows} == {2048, 77}


def test_folders_that_are_gone_or_damaged_are_named_and_skipped(tmp_path: Path) -> None:
    gone, damaged = make_run(tmp_path, "gone"), make_run(tmp_path, "damaged")
    make_run(tmp_path, "whole")
    shutil.rmtree(gone)
    (damaged / "run.json").write_text("{")
    listing = History().read()
    assert [row.name for row in listing.rows] == ["whole"]
    assert {skipped.path.name for skipped in listing.skipped} == {"gone", "damaged"}


def test_a_damaged_status_is_a_lost_run_with_a_sentence(tmp_path: Path) -> None:
    (make_run(tmp_path) / "status.json").write_text("[]")
    row = only_row()
    assert (row.state, row.reason) == (RunState.LOST, "it left no status that can be read")


def test_lineage_names_the_parent_and_its_step(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    data = json.loads((folder / "run.json").read_text())
    parent = "/else/ppo/gaussian-policy/hopper-s1/614400"
    (folder / "run.json").write_text(json.dumps({**data, "parent_checkpoint": parent}))
    assert only_row().lineage == "from hopper-s1 @ 614,400"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", True),
        ("hopper", True),
        ("HOPPER gauss", True),
        ("walker", False),
        ("state:done", True),
        ("state:failed", False),
        ("algo:ppo env:hopper name:s3", True),
        ("lr<1e-3", True),
        ("lr<1e-5", False),
        ("seed=3", True),
        ("algo.gamma>=0.9", True),
        ("step>2_000", True),
        ("return>0", False),
        ("nothing=3", False),
        ("hopper seed=4", False),
    ],
)
def test_a_filter_finds(tmp_path: Path, text: str, *, found: bool) -> None:
    make_run(tmp_path)
    assert matcher(text)(only_row()) is found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour:red", "expected state:, name:, algo:, policy:, env:, where:, got 'colour:red'"),
        ("lr<fast", "expected a number after lr<, got 'fast'"),
        ("state:", "expected a word after state:"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        matcher(text)
