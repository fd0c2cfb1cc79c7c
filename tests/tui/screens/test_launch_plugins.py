"""LAUNCH with plug-ins: a field for them, the app's flag, and runs that were made with them."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core import plugins
from plugrl_tui.core.draft import IMPORTS_KEY
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.runs import RunsScreen
from tests.tui.pictures import seen, until
from tests.tui.plugin_files import write_plugins
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home", "own_registries")
COMMAND = "plugrl launch shared-trunk small ppo default --env hopper --policy.width=8"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_plugins(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def launch_of(pilot: Pilot[None]) -> LaunchScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, LaunchScreen))
    screen = pilot.app.screen
    assert isinstance(screen, LaunchScreen)
    await until(pilot, lambda: "what to train" in seen(pilot.app))
    return screen


def policies(screen: LaunchScreen) -> tuple[str, ...]:
    return next(row for row in screen.table.form if row.key == "names.policy").choices


async def test_a_plug_in_that_is_typed_offers_its_names_and_is_in_the_command() -> None:
    app = PlugRLApp(Start(screen="launch"))
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await launch_of(pilot)
        screen.table.open_at(IMPORTS_KEY)
        await pilot.press("enter", "backspace", "backspace", "backspace", "backspace")
        await pilot.press(*"trunk", "underscore", *"plugin", "enter")
        await until(pilot, lambda: "trunk_plugin" in str(screen.errors | {"": screen.draft}))
        await until(pilot, lambda: "shared-trunk" in policies(screen))
        assert screen.errors == {}
        await until(pilot, lambda: "--import=trunk_plugin" in seen(app))
    assert "trunk_plugin" not in sys.modules


async def test_a_plug_in_that_is_not_there_keeps_the_run_from_starting() -> None:
    app = PlugRLApp(Start(screen="launch", imports=("no_such_plugin",)))
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await launch_of(pilot)
        await until(pilot, lambda: "No module named" in seen(app))
        assert list(screen.errors) == [IMPORTS_KEY]
        await pilot.press("e")
        assert screen.table.current is not None
        assert screen.table.current.key == IMPORTS_KEY
        await pilot.press("u")
        await until(pilot, lambda: screen.errors == {})


async def test_the_app_s_own_flag_offers_the_names_from_the_start() -> None:
    app = PlugRLApp(Start(screen="launch", imports=("trunk_plugin",)))
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await launch_of(pilot)
        await until(pilot, lambda: "shared-trunk" in policies(screen))


async def test_fields_that_are_changed_meanwhile_do_not_begin_the_imports_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on, load = asyncio.Event(), plugins.load
    loaded: list[Sequence[str]] = []

    async def load_later(modules: Sequence[str]) -> None:
        loaded.append(modules)
        await go_on.wait()
        await load(modules)

    monkeypatch.setattr(plugins, "load", load_later)
    app = PlugRLApp(Start(screen="launch", imports=("trunk_plugin",)))
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await launch_of(pilot)
        await until(pilot, lambda: bool(loaded))
        for seed in ("1", "2"):
            screen.change(screen.draft.with_text("run.seed", seed))
            await pilot.pause()
        go_on.set()
        await until(pilot, lambda: "shared-trunk" in policies(screen))
        assert loaded == [("trunk_plugin",)]
        assert screen.draft.value("run.seed") == 2


async def test_a_warm_start_imports_what_its_parent_did_and_keeps_what_is_changed_meanwhile(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = tuple(f"{COMMAND} --import trunk_plugin --num-procs 3 --exp-name mine".split())
    folder = make_run(here / "checkpoints", "mine", argv=argv)
    go_on, load = asyncio.Event(), plugins.load

    async def load_later(modules: Sequence[str]) -> None:
        await go_on.wait()
        await load(modules)

    app = PlugRLApp(Start(screen="launch"))
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await launch_of(pilot)
        monkeypatch.setattr(plugins, "load", load_later)
        screen._take_checkpoint(folder / "64")
        await pilot.pause()
        screen.change(screen.draft.with_text("algo.gamma", "0.5"))
        go_on.set()
        await until(pilot, lambda: screen.draft.value("clients.num_procs") == 3)
        await until(pilot, lambda: not plugins.is_pending(screen.draft.imports))
        draft = screen.draft
        assert draft.imports == ("trunk_plugin",)
        assert draft.text("algo.gamma") == "0.5"
        assert draft.value("flow.prefect") is False
        assert draft.text("algo.policy_checkpoint_path") == str(folder / "64")


async def test_another_run_like_one_of_a_plug_in_imports_it_too(here: Path) -> None:
    argv = tuple(f"{COMMAND} --import trunk_plugin --exp-name mine".split())
    make_run(here / "checkpoints", "mine", argv=argv)
    app = PlugRLApp()
    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and "mine" in seen(app))
        await until(pilot, lambda: "changed    --policy.width=8" in seen(app))
        await pilot.press("N")
        screen = await launch_of(pilot)
        assert screen.errors == {}
        assert screen.draft.value("policy.width") == 8
        assert screen.draft.value("flow.prefect") is False


async def test_a_run_whose_plug_in_is_gone_says_so(here: Path) -> None:
    argv = tuple(f"{COMMAND} --import gone_plugin --exp-name mine".split())
    make_run(here / "checkpoints", "mine", argv=argv)
    app = PlugRLApp()
    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and "mine" in seen(app))
        await pilot.press("N")
        await until(pilot, lambda: "No module named 'gone_plugin'; start plugrl-tui" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
