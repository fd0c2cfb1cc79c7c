"""RUNS, in every state and with its keys."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from plugrl.runs.catalog import find_runs
from plugrl.runs.liveness import own_start
from plugrl.runs.records import Checkpoint, Event, RunState, RunStatus, append_event, write_status
from plugrl_tui.app import PlugRLApp
from plugrl_tui.core.launcher import Launched
from plugrl_tui.modals.attach import AttachBox
from plugrl_tui.modals.delete import DeleteBox
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.runs import RunsScreen
from tests.tui.pictures import SIZES, assert_looks_like, seen, until
from tests.tui.run_folders import make_run, write_returns

pytestmark = pytest.mark.usefixtures("own_home")
HOUR = 3600.0


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ckpt"


def make_several(base: Path) -> None:
    now = time.time()
    saved = Checkpoint("somewhere/614400", 614_400)
    ages: list[tuple[str, float, dict[str, Any]]] = [
        ("hopper-s1", 22, {"state": RunState.DONE, "step": 1_000_000, "last_checkpoint": saved}),
        ("hopper-s2", 20, {"state": RunState.STOPPED, "step": 614_400, "last_checkpoint": saved}),
        ("hopper-s3", 4, {"state": RunState.FAILED, "step": 81_920, "attempt": 3}),
        ("hopper-s4", 3, {"state": RunState.RUNNING, "step": 20_480, "last_checkpoint": saved}),
        ("warm", 2, {"parent_checkpoint": "/x/ppo/gaussian-policy/hopper-s1/614400"}),
    ]
    for name, age, more in ages:
        about = {"step": 512, "updated_at": now - 2.5 * HOUR, **more}
        created = now - age * HOUR - 60
        flags = "--algo.gamma=0.9 --seed=3" if name == "hopper-s3" else ""
        folder = make_run(base, name, flags=flags, created_at=created, **about)
        write_returns(folder, [float(20 * n + age) for n in range(12)])
    for why in ("exit code 137: out of memory", "exit code 139: segmentation fault"):
        failed = base / "ppo" / "gaussian-policy" / "hopper-s3"
        append_event(failed, Event(event="crashed", attempt=1, step=1, details={"why": why}))


async def opened(pilot: Pilot[None], number: int) -> RunsScreen:
    """The screen, once so many runs are listed."""
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    count = "1 run" if number == 1 else f"{number} runs, "
    words = (count, "left out ") if number else ("no runs yet",)
    await until(pilot, lambda: len(screen.table.runs) == number)
    await until(pilot, lambda: any(word in seen(pilot.app) for word in words))
    await until(pilot, lambda: "n New" in seen(pilot.app) or pilot.app.size.width < 60)
    return screen


def at_cursor(screen: RunsScreen) -> str | None:
    run = screen.table.current
    return run.name if run is not None else None


def notes(pilot: Pilot[None]) -> str:
    return " | ".join(note.message for note in pilot.app._notifications)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_without_runs_it_says_what_to_press(size: tuple[int, int], base: Path) -> None:
    app = PlugRLApp()
    async with app.run_test(size=size) as pilot:
        await opened(pilot, 0)
        assert_looks_like(app, "runs_none")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_runs_with_their_states(size: tuple[int, int], base: Path) -> None:
    make_several(base)
    app = PlugRLApp()
    async with app.run_test(size=size) as pilot:
        await opened(pilot, 5)
        await pilot.press("space", "down")
        assert_looks_like(app, "runs_failed")
        await pilot.press("up", "up", "up")
        assert_looks_like(app, "runs_warm")


async def test_a_small_terminal_still_shows_the_runs(base: Path) -> None:
    make_several(base)
    app = PlugRLApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await opened(pilot, 5)
        assert "FAILED" in seen(app)
        assert "hopper-s3" in seen(app)


async def test_a_filter_leaves_those_that_match_and_escape_shows_all(base: Path) -> None:
    make_several(base)
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, 5)
        await pilot.press("slash", *"state:failed", "enter")
        await until(pilot, lambda: [row.name for row in screen.table.runs] == ["hopper-s3"])
        await pilot.press("slash", *" lr<soon", "enter")
        await until(pilot, lambda: "expected a number after lr<, got 'soon'" in notes(pilot))
        assert len(screen.table.runs) == 1
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.table.runs) == 5)


async def test_a_damaged_folder_is_named_and_the_others_are_shown(base: Path) -> None:
    make_several(base)
    (base / "ppo" / "gaussian-policy" / "hopper-s2" / "run.json").write_text("{")
    app = PlugRLApp()
    async with app.run_test(size=(120, 30)) as pilot:
        await opened(pilot, 4)
        assert "left out hopper-s2: expected a JSON object" in seen(app)


async def test_a_run_that_appears_is_seen_without_a_key(base: Path) -> None:
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, 0)
        make_run(base, "new-one")
        await until(pilot, lambda: len(screen.table.runs) == 1)
        assert "new-one" in seen(app)


async def test_the_cursor_goes_once_to_a_run_that_was_launched(base: Path) -> None:
    make_run(base, "old")
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, 1)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        folder = make_run(base, "new")
        app.launched.append(Launched(pid=os.getpid(), log=base / "log", run_dir=folder))
        await pilot.press("escape")
        await until(pilot, lambda: at_cursor(screen) == "new")
        await pilot.press("down", "n")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        await pilot.press("escape")
        await opened(pilot, 2)
        assert at_cursor(screen) == "old"


async def test_comparing_needs_two_marks(base: Path) -> None:
    make_several(base)
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 5)
        await pilot.press("space", "c")
        assert "mark 2 to 4 runs with space first, 1 are marked" in notes(pilot)


async def test_a_run_without_a_checkpoint_can_not_be_resumed_and_says_so(base: Path) -> None:
    make_run(base, "early", state=RunState.FAILED)
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 1)
        await pilot.press("r")
        words = "early has saved no checkpoint to go on from; N starts it anew"
        await until(pilot, lambda: words in notes(pilot))


async def test_a_copy_is_a_draft_of_the_same_command(base: Path) -> None:
    make_run(base, "first", flags="--algo.gamma=0.9")
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 1)
        await pilot.press("N")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        assert isinstance(app.screen, LaunchScreen)
        assert app.screen.draft.value("algo.gamma") == 0.9
        assert app.screen.named.value("run.exp_name") == "hopper-ppo-s0"
        await until(pilot, lambda: "like first" in seen(app))


async def test_a_run_of_another_program_can_be_watched_but_not_copied(base: Path) -> None:
    folder = make_run(base, "foreign")
    data = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**data, "argv": ["mine.py"]}))
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 1)
        await pilot.press("N")
        await until(pilot, lambda: "command can't be read: expected flags" in seen(app))


async def test_the_command_is_copied(base: Path) -> None:
    make_run(base, "first", flags="--algo.gamma=0.9")
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 1)
        await pilot.press("y")
        assert app.clipboard.startswith("plugrl-flow train gaussian-policy default ppo default")
        assert "--algo.gamma=0.9" in app.clipboard


async def test_deleting_takes_the_name_typed_and_nothing_else(base: Path) -> None:
    folder = make_run(base, "old-one")
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, 1)
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, DeleteBox))
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: "expected old-one, got old; esc keeps it" in seen(app))
        assert folder.exists()
        app.screen.query_one(Input).value = "old-one"
        await pilot.press("enter")
        await until(pilot, lambda: not screen.table.runs)
        assert not folder.exists()
        assert find_runs().found == []


async def test_a_run_that_is_resumed_while_its_name_is_typed_is_kept(base: Path) -> None:
    folder = make_run(base, "old-one")
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 1)
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, DeleteBox))
        status = RunStatus(state=RunState.RUNNING, pid=os.getpid(), pid_started=own_start())
        write_status(folder, status)
        app.screen.query_one(Input).value = "old-one"
        await pilot.press("enter")
        await until(pilot, lambda: "old-one goes on meanwhile, so it is kept" in notes(pilot))
        assert folder.exists()


async def test_a_folder_that_is_gone_meanwhile_is_no_traceback(base: Path) -> None:
    folder = make_run(base, "going")
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, 1)
        shutil.rmtree(folder)
        await pilot.press("D")
        assert f"{folder} is gone already" in notes(pilot)
        await until(pilot, lambda: not screen.table.runs)
        assert "left out going: the folder is gone; plugrl-flow list --forget-gone" in seen(app)


async def test_attaching_asks_for_a_server(base: Path) -> None:
    app = PlugRLApp()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, 0)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AttachBox))
