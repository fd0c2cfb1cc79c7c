"""The whole way with keys alone, against real processes.

Launch, watch, save, leave; the run goes on; come back, stop, resume, start warm from it, compare.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from plugrl.runs import records
from plugrl.runs.liveness import owner_lives
from plugrl.runs.records import RunState, RunStatus
from plugrl_tui.app import PlugRLApp
from plugrl_tui.core.model import Link
from plugrl_tui.modals.checkpoint import CheckpointPicker, CheckpointTable
from plugrl_tui.screens.compare import CompareScreen
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.screens.runs import RunsScreen
from plugrl_tui.widgets.field_table import FieldTable
from tests.tui.run_folders import QUICK

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("nothing_left_behind"),
]

DEADLINE_S = 120.0
POLL_S = 0.05


async def until(pilot: Pilot[None], what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}; screen {pilot.app.screen}"
        await pilot.pause(POLL_S)


def screen_is(pilot: Pilot[None], kind: type) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, kind)


def status_of(folder: Path) -> RunStatus:
    return records.read_status(folder)


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.query_one(FieldTable).post_message(Paste(text))
    await pilot.pause()


async def start(pilot: Pilot[None]) -> Path:
    """Start what LAUNCH shows; returns its folder once MONITOR is live."""
    await pilot.press("ctrl+r")
    await until(pilot, "MONITOR", screen_is(pilot, MonitorScreen))
    screen = pilot.app.screen
    assert isinstance(screen, MonitorScreen)
    await until(pilot, "live", lambda: screen.model.link is Link.LIVE)
    await until(pilot, "two workers", lambda: screen.model.workers.num_connected == 2)
    return Path(screen.model.folder)


async def stop(pilot: Pilot[None], folder: Path) -> None:
    await pilot.press("s")
    await pilot.press("enter")
    await until(pilot, "stopped", lambda: status_of(folder).state is RunState.STOPPED)
    last = status_of(folder)
    await until(pilot, "no process", lambda: not owner_lives(last))
    await pilot.press("escape")
    await pilot.press("escape")
    await until(pilot, "RUNS", screen_is(pilot, RunsScreen))


async def choose(pilot: Pilot[None], name: str) -> None:
    """Put the cursor of RUNS on a run, once it is there."""
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    await until(pilot, name, lambda: name in [row.name for row in screen.table.runs])
    for _ in range(len(screen.table.runs)):
        await pilot.press("up")
    while screen.table.current is None or screen.table.current.name != name:
        await pilot.press("down")


@pytest.mark.many_examples
async def test_with_keys_alone(tmp_path: Path) -> None:
    app = PlugRLApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, "RUNS", screen_is(pilot, RunsScreen))
        await pilot.press("n")
        await until(pilot, "LAUNCH", screen_is(pilot, LaunchScreen))
        await paste(pilot, f"{QUICK} --checkpoint-base-dir {tmp_path / 'ckpt'}")
        first = await start(pilot)
        assert first.name == "hopper-ppo-s0"
        await until(pilot, "a learn", lambda: status_of(first).num_learns > 0)
        await pilot.press("k")
        await until(pilot, "saved", lambda: status_of(first).last_checkpoint is not None)
        await pilot.press("q")
    left = status_of(first)
    assert owner_lives(left)

    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, "RUNS", screen_is(pilot, RunsScreen))
        await until(pilot, "it has gone on", lambda: status_of(first).step > left.step)
        assert status_of(first).pid == left.pid
        await choose(pilot, first.name)
        await pilot.press("enter")
        await until(pilot, "MONITOR", screen_is(pilot, MonitorScreen))
        await stop(pilot, first)
        saved = status_of(first).last_checkpoint
        assert saved is not None

        await choose(pilot, first.name)
        await pilot.press("r")
        await until(pilot, "LAUNCH", screen_is(pilot, LaunchScreen))
        assert await start(pilot) == first
        await until(pilot, "on from there", lambda: status_of(first).step > saved.step)
        restarted = [e for e in records.read_events(first) if e.event == "resumed"]
        assert [e.step for e in restarted] == [saved.step]
        await stop(pilot, first)

        await choose(pilot, first.name)
        await pilot.press("w")
        await until(pilot, "picker", screen_is(pilot, CheckpointPicker))
        table = pilot.app.screen.query_one(CheckpointTable)
        await until(pilot, "checkpoints", lambda: bool(table.found))
        assert table.current is not None
        parent = table.current.path
        await pilot.press("enter")
        await until(pilot, "LAUNCH", screen_is(pilot, LaunchScreen))
        second = await start(pilot)
        assert second.name == "hopper-ppo-s0-2"
        assert records.read_run(second).parent_checkpoint == str(parent)
        begun = int(parent.name)
        await until(pilot, "on from there", lambda: status_of(second).step > begun + 256)
        await stop(pilot, second)
        runs = pilot.app.screen
        assert isinstance(runs, RunsScreen)
        await until(
            pilot,
            "cursor on it",
            lambda: runs.table.current is not None and runs.table.current.path == second,
        )

        for name in (first.name, second.name):
            await choose(pilot, name)
            await pilot.press("space")
        await pilot.press("c")
        await until(pilot, "COMPARE", screen_is(pilot, CompareScreen))
        compare = pilot.app.screen
        assert isinstance(compare, CompareScreen)
        await until(
            pilot,
            "two curves",
            lambda: all(run.curve(compare.chart.metric) for run in compare.chart.runs),
        )
        await pilot.press("escape", "escape")
        await pilot.press("D")
        await pilot.press(*"wrong", "enter")
        assert second.exists()
        await pilot.press("escape")
