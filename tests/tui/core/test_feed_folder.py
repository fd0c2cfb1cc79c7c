"""A run from its folder: as it grows, as it is damaged, and with a server that comes and goes."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import (
    RunRecord,
    RunState,
    RunStatus,
    update_status,
    write_run,
    write_status,
)
from plugrl_tui.core.curves import RETURN
from plugrl_tui.core.feed import FeedError
from plugrl_tui.core.feed_folder import FolderFeed, FolderFiles
from plugrl_tui.core.feed_live import LiveFeed
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import LogLine
from tests.server.conftest import Scripted, running, until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record = RunRecord(
        exp_name="hopper-s1",
        policy="gaussian-policy",
        policy_variant="default",
        algorithm="ppo",
        algorithm_variant="default",
        env="hopper",
    )
    write_run(tmp_path, record)
    write_status(tmp_path, RunStatus(state=RunState.DONE, step=300, total_steps=300))
    return tmp_path


def add_metrics(folder: Path, *lines: dict[str, Any]) -> None:
    with (folder / "metrics.jsonl").open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def read(folder: Path) -> RunModel:
    model = RunModel("x")
    FolderFiles(folder).read_into(model)
    return model


def test_records_metrics_and_log_are_read(folder):
    add_metrics(folder, {"event": "started", "step": 0, "time": 1.0})
    add_metrics(folder, {"step": 100, RETURN: 5.0, "time": 2.0, "note": "skipped", "flag": True})
    (folder / "log.txt").write_text(
        "==== attempt 1 ====\n2026-11-30 05:14:37,353 WARNING it is late\n"
    )
    model = read(folder)
    assert model.title == "hopper-s1"
    assert model.verdict().state is RunState.DONE
    assert model.curves.last(RETURN) == 5.0
    assert model.curves.names() == [RETURN]
    assert [(line.level, line.text) for line in model.log] == [
        ("", "==== attempt 1 ===="),
        ("WARNING", "it is late"),
    ]
    assert model.log[1].time is not None


def test_a_resume_supersedes_later_metrics(folder):
    add_metrics(folder, *({"step": step, RETURN: float(step), "time": 1.0} for step in (1, 2, 3)))
    add_metrics(folder, {"event": "resumed", "step": 2, "time": 2.0})
    add_metrics(folder, {"step": 3, RETURN: 33.0, "time": 3.0})
    curve = read(folder).curves.get(RETURN)
    assert curve is not None
    assert curve.values.values == [1.0, 2.0, 33.0]


@pytest.mark.parametrize("name", ["run.json", "status.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"version": 99}'])
def test_a_damaged_file_is_named_and_the_rest_is_shown(folder, name, content):
    (folder / name).write_bytes(content)
    add_metrics(folder, {"step": 1, RETURN: 2.0, "time": 1.0})
    model = read(folder)
    assert any(name in problem for problem in model.problems)
    assert model.curves.last(RETURN) == 2.0


def test_a_file_that_was_repaired_is_no_problem_any_more(folder):
    model, files = RunModel("x"), FolderFiles(folder)
    whole = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(b"{")
    files.read_into(model)
    files.read_into(model)
    assert "run.json" in "".join(model.problems)
    (folder / "run.json").write_bytes(whole)
    files.read_into(model)
    assert not model.problems


def test_what_the_server_told_before_the_files_is_not_told_twice(folder):
    model, files = RunModel("x"), FolderFiles(folder)
    files.read_into(model)
    model.add_metrics(100, 1.0, {RETURN: 5.0})
    model.add_log([LogLine(1.0, "INFO", "once")])
    add_metrics(folder, {"step": 100, RETURN: 5.0, "time": 1.0})
    (folder / "log.txt").write_text("2026-11-30 05:14:37,353 INFO once\n")
    files.read_into(model)
    assert model.curves.steps == [100]
    assert [line.text for line in model.log] == ["once"]


def test_only_what_changed_is_read_again(folder):
    model, files = RunModel("x"), FolderFiles(folder)
    files.read_into(model)
    before = dict(model.revisions)
    files.read_into(model)
    assert model.revisions == before
    update_status(folder, step=999)
    files.read_into(model)
    assert model.status is not None
    assert model.status.step == 999


@contextlib.asynccontextmanager
async def fed(folder: Path) -> AsyncIterator[tuple[RunModel, FolderFeed]]:
    model, feed = RunModel("x"), FolderFeed(folder)
    task = asyncio.create_task(feed.run(model))
    try:
        yield model, feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.integration
async def test_its_server_is_watched_while_it_listens_and_its_files_afterwards(folder):
    async with fed(folder) as (model, feed):
        await until(lambda: model.status is not None)
        with pytest.raises(FeedError, match="has none now"):
            await feed.send("stop")
        async with running(Scripted()) as up:
            me = {"host": this_host(), "pid_started": own_start(), "pid": os.getpid()}
            update_status(folder, state=RunState.RUNNING, url=up.url, **me)
            await until(lambda: model.link is Link.LIVE)
            await feed.send("stop")
            await asyncio.wait_for(up.task, 20)
        update_status(folder, state=RunState.STOPPED, url=None, reason="stopped on request")
        await until(lambda: model.link is Link.NONE)
        assert model.verdict() == (RunState.STOPPED, "stopped on request")


@pytest.mark.integration
async def test_the_next_attempt_s_server_is_found_at_its_own_address(folder):
    me = {"host": this_host(), "pid_started": own_start(), "pid": os.getpid()}
    async with fed(folder) as (model, _):
        for attempt in (1, 2):
            async with running(Scripted()) as up:
                update_status(folder, state=RunState.RUNNING, url=up.url, attempt=attempt, **me)
                await until(lambda: model.link is Link.LIVE)
                assert model.url == up.url
            update_status(folder, state=RunState.WAITING, url=None, reason="crashed, again in 5 s")
            await until(lambda: model.link is not Link.LIVE)
            await until(lambda: model.verdict().state is RunState.WAITING)


async def test_a_server_s_feed_that_fails_is_not_begun_again_and_again(folder, monkeypatch):
    async def fail(self: LiveFeed, model: RunModel) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(LiveFeed, "run", fail)
    me = {"host": this_host(), "pid_started": own_start(), "pid": os.getpid()}
    update_status(folder, state=RunState.RUNNING, url="ws://127.0.0.1:1", **me)
    with pytest.raises(RuntimeError, match="a bug"):
        await asyncio.wait_for(FolderFeed(folder).run(RunModel("x")), 30)


def test_a_folder_that_is_deleted_while_it_is_watched_is_told_and_not_to_be_resumed(
    folder: Path,
) -> None:
    files, model = FolderFiles(folder), RunModel("x")
    files.read_into(model)
    assert (model.folder, model.problems) == (str(folder), ())
    moved = folder.rename(folder.with_name("moved"))
    files.read_into(model)
    assert (model.folder, model.problems) == ("", ("its folder is gone: it was deleted or moved",))
    moved.rename(folder)
    files.read_into(model)
    assert (model.folder, model.problems) == (str(folder), ())
