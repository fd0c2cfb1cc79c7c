"""The app around its screens: what it opens, what it can't, and how it is left."""

import os

import pytest

from plugrl.runs.liveness import own_start
from plugrl.runs.records import RunState, RunStatus, write_status
from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.modals.attach import AttachBox
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.screens.runs import RunsScreen
from tests.server.conftest import Scripted, running
from tests.tui.pictures import SIZES, seen, until
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")


def words(app: PlugRLApp) -> str:
    return " ".join(seen(app).replace("│", " ").split())


async def test_a_run_that_is_not_there_is_a_sentence_above_runs():
    app = PlugRLApp(Start(screen="monitor", options={"target": "nope"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "unknown run 'nope'" in words(app))
        await pilot.press("escape")
        assert isinstance(app.screen, RunsScreen)


async def test_runs_is_behind_the_run_that_the_app_began_with(tmp_path):
    make_run(tmp_path, "hopper-s1")
    app = PlugRLApp(Start(screen="monitor", options={"target": "hopper-s1"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "DONE" in words(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: "hopper-s1" in words(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MonitorScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


@pytest.mark.integration
async def test_a_server_is_attached_to_by_its_address_and_key():
    async with running(Scripted(), api_key="hunter2") as up:
        app = PlugRLApp()
        async with app.run_test(size=SIZES[0]) as pilot:
            app.ask_attach()
            await until(pilot, lambda: isinstance(app.screen, AttachBox))
            await pilot.press(*"ws://", "enter")
            await until(pilot, lambda: "expected a server such as" in words(app))
            await pilot.press(*["backspace"] * 5, *up.url.removeprefix("ws://"), "tab", *"hunter2")
            assert "hunter2" not in seen(app)
            await pilot.press("enter")
            await until(pilot, lambda: "LIVE" in seen(app) and "WAITING" in seen(app))


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_box_that_asks_for_a_server(size):
    app = PlugRLApp(Start(screen="monitor", options={"target": "ws://127.0.0.1:1"}))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "nothing listens" in words(app))
        app.ask_attach()
        await until(pilot, lambda: isinstance(app.screen, AttachBox))
        await until(pilot, lambda: "Attach to a server" in seen(app))
        box = seen(app).splitlines()
        start = next(n for n, line in enumerate(box) if "Attach to a server" in line)
        assert "address, such as gpu-box:8000" in box[start + 1]
        assert "its key, where it wants one; it is not kept" in box[start + 3]


async def test_help_and_errors_close_with_escape():
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.complain("expected a run, got nothing")
        await until(pilot, lambda: "expected a run, got nothing" in words(app))
        await pilot.press("escape", "question_mark")
        await until(pilot, lambda: "Make up a new run." in words(app))
        await pilot.press("escape")
        assert isinstance(app.screen, RunsScreen)


async def test_the_copied_command_starts_an_env_client(tmp_path):
    make_run(tmp_path, "hopper-s1")
    app = PlugRLApp(Start(screen="monitor", options={"target": "hopper-s1"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        assert app.clipboard == "plugrl-run-env-client hopper"


async def test_a_failure_of_the_app_is_one_sentence_and_a_way_on(tmp_path, monkeypatch):
    make_run(tmp_path, "hopper-s1")
    app = PlugRLApp()
    monkeypatch.setattr(PlugRLApp, "is_headless", property(lambda self: False))
    told: list[object] = []
    monkeypatch.setattr(app, "exit", lambda **how: told.append(how))
    app._handle_exception(RuntimeError("a bug"))
    (how,) = told
    assert isinstance(how, dict)
    assert how["return_code"] == 1
    assert "plugrl-tui failed: RuntimeError: a bug" in how["message"].plain


async def test_brackets_in_a_name_are_no_markup(tmp_path, capsys):
    folder = make_run(tmp_path, "a[red]", state=RunState.FAILED)
    app = PlugRLApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "a[red]" in words(app))
        await pilot.press("r")
        await until(pilot, lambda: "a[red] has saved no checkpoint" in words(app))
        status = RunStatus(state=RunState.RUNNING, pid=os.getpid(), pid_started=own_start())
        write_status(folder, status)
        await pilot.press("q")
    assert capsys.readouterr().err.startswith("a[red] goes on (step 0)")
