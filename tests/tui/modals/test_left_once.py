"""A modal is left once, and alone: not by a second key, and not what stands above it."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.history import History
from plugrl_tui.core.launcher import Launched
from plugrl_tui.modals.ask_line import AskLine
from plugrl_tui.modals.attach import AttachBox, Attachment
from plugrl_tui.modals.checkpoint import CheckpointPicker
from plugrl_tui.modals.delete import DeleteBox
from plugrl_tui.modals.error import ErrorBox
from plugrl_tui.modals.palette import Palette
from plugrl_tui.modals.starting import Starting
from plugrl_tui.screens.runs import RunsScreen
from tests.tui.pictures import until
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")


def every_modal(folder: Path) -> list[Screen[Any]]:
    launched = Launched(pid=1, log=folder / "log", run_dir=folder)
    return [
        AskLine("question"),
        AttachBox(),
        CheckpointPicker(draft=Draft()),
        DeleteBox(row=History().read().rows[0]),
        ErrorBox("no"),
        Palette(id="--command-palette"),
        Starting(launched=launched, with_prefect=False),
    ]


def is_on_top(modal: Screen[Any]) -> bool:
    return modal.is_mounted and modal.is_active


async def runs_of(pilot: Pilot[None]) -> RunsScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    assert isinstance(pilot.app.screen, RunsScreen)
    return pilot.app.screen


async def test_a_second_dismissal_takes_no_other_screen_away_and_answers_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Launched, "exit_code", lambda _: None)
    make_run(tmp_path, "hopper-s1")
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        runs = await runs_of(pilot)
        app.push_screen(below := ErrorBox("below"))
        for modal in every_modal(tmp_path):
            answers: list[object] = []
            app.push_screen(modal, answers.append)
            await until(pilot, partial(is_on_top, modal))
            modal.dismiss(None)
            modal.dismiss(None)
            await until(pilot, partial(bool, answers))
            assert (app.screen, answers) == (below, [None]), modal
        assert runs in app.screen_stack


async def test_a_start_that_listens_waits_for_the_help_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Launched, "exit_code", lambda _: None)
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await runs_of(pilot)
        launched = Launched(pid=1, log=tmp_path / "log", run_dir=tmp_path)
        app.push_screen(starting := Starting(launched=launched, with_prefect=False))
        app.push_screen(above := ErrorBox("above"))
        await until(pilot, lambda: app.screen is above)
        starting.action_watch()
        await pilot.pause()
        assert app.screen_stack[-2:] == [starting, above]


async def test_enter_pressed_twice_attaches_once() -> None:
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await runs_of(pilot)
        attached: list[Attachment | None] = []
        app.push_screen(AttachBox(), attached.append)
        await until(pilot, lambda: isinstance(app.screen, AttachBox))
        await pilot.press(*"box", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert [each.url for each in attached if each] == ["ws://box:8000"]


@pytest.mark.parametrize("screen", ["launch", "monitor"])
async def test_the_first_screen_is_left_once(screen: str) -> None:
    options = {"target": "demo"} if screen == "monitor" else {}
    app = PlugRLApp(Start(screen=screen, options=options))
    async with app.run_test(size=(80, 24)) as pilot:
        first = app.screen
        first.dismiss()
        first.dismiss()
        await runs_of(pilot)
        await asyncio.sleep(0)
        assert len(app.screen_stack) == 1


async def test_what_is_said_again_and_again_is_seen_once() -> None:
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await runs_of(pilot)
        for _ in range(5):
            await pilot.press("ctrl+c")
        assert len(app._notifications) == 1


async def test_a_page_up_before_the_palette_has_its_list_ends_nothing() -> None:
    app = PlugRLApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await runs_of(pilot)
        app.push_screen(palette := Palette(id="--command-palette"))
        await until(pilot, lambda: app.screen is palette)
        palette._action_command_list("page_up")
        await pilot.press("pageup", "pagedown", "escape")
        await runs_of(pilot)
