"""A start that is watched until the server listens, or until it has failed."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrl.runs.liveness import own_start
from plugrl.runs.records import RunState, RunStatus, write_status
from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core import launcher
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.launcher import Launched
from plugrl_tui.modals.starting import Starting
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.screens.runs import RunsScreen
from tests.tui.pictures import seen, until
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launched]:
    """What LAUNCH starts here: a process that waits for its end, and says nothing to anybody."""
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    log.write_text("train: error: no such env\n")
    read_end, write_end = os.pipe()
    pid = os.posix_spawn(
        "/bin/cat", ["cat"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, read_end, 0)]
    )
    os.close(read_end)
    run = Launched(pid=pid, log=log, run_dir=make_run(tmp_path / "ckpt", "mine", updated_at=0.0))
    monkeypatch.setattr(launcher, "launch", lambda draft: run)
    yield run
    os.close(write_end)
    while run.exit_code() is None:
        os.sched_yield()


def app_with_a_draft() -> PlugRLApp:
    draft = Draft().with_texts({"flow.prefect": "false", "server.port": "0"})
    return PlugRLApp(Start(screen="launch", options={"draft": draft}))


async def test_once_it_listens_it_is_watched_and_runs_is_behind_it(launched: Launched) -> None:
    app = app_with_a_draft()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Starting))
        await until(pilot, lambda: "◐ policy and algorithm made" in seen(app))
        mine = {"pid": os.getpid(), "pid_started": own_start(), "updated_at": time.time() + 60}
        write_status(launched.run_dir, RunStatus(state=RunState.RUNNING, **mine))  # type: ignore[arg-type]
        await until(pilot, lambda: isinstance(app.screen, MonitorScreen))
        await until(pilot, lambda: "mine" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_escape_leaves_it_starting_and_goes_back_to_the_form(launched: Launched) -> None:
    app = app_with_a_draft()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Starting))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        assert launched.exit_code() is None


async def test_after_a_start_that_failed_the_form_is_as_it_was(launched: Launched) -> None:
    texts = {"flow.prefect": "false", "server.port": "0", "run.exp_name": "mine"}
    options = {"draft": Draft().with_texts(texts)}
    app = PlugRLApp(Start(screen="launch", options=options))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        screen = app.screen
        assert isinstance(screen, LaunchScreen)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Starting))
        os.kill(launched.pid, signal.SIGKILL)
        await until(pilot, lambda: "ended by SIGKILL, after it had said: train: error" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert screen.draft.value("run.exp_name") == "mine"
