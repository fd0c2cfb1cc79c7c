"""LAUNCH: what is shown, what keys and pasted flags do, and what is refused before a start."""

import socket
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core import kept_draft, launcher
from plugrl_tui.core.draft import Draft
from plugrl_tui.modals.checkpoint import CheckpointPicker
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.runs import RunsScreen
from plugrl_tui.widgets.editor import Editor
from tests.tui.pictures import SIZES, assert_looks_like, seen, until
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def app_with(draft: Draft | None = None) -> PlugRLApp:
    return PlugRLApp(Start(screen="launch", options={"draft": draft}))


async def opened(pilot: Pilot[None]) -> LaunchScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, LaunchScreen))
    screen = pilot.app.screen
    assert isinstance(screen, LaunchScreen)
    wanted = ("what to train", "$ plugrl-flow", "Start")
    await until(pilot, lambda: all(text in seen(pilot.app) for text in wanted))
    return screen


async def go_to(pilot: Pilot[None], screen: LaunchScreen, key: str) -> None:
    screen.table.open_at(key)
    await pilot.pause()
    assert screen.table.current is not None
    assert screen.table.current.key == key


async def type_value(pilot: Pilot[None], screen: LaunchScreen, key: str, text: str) -> None:
    await go_to(pilot, screen, key)
    await pilot.press("enter")
    editor = screen.query_one(Editor)
    await until(pilot, lambda: editor.has_focus)
    editor.value = ""
    await pilot.press(*(_KEYS.get(letter, letter) for letter in text), "enter")
    await until(pilot, lambda: not editor.has_focus)


_KEYS = {".": "full_stop", "-": "minus", "_": "underscore", " ": "space", "/": "slash"}


def notes(pilot: Pilot[None]) -> str:
    return " | ".join(note.message for note in pilot.app._notifications)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_new_run(size: tuple[int, int]) -> None:
    app = app_with()
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await pilot.press("down")
        assert_looks_like(app, "launch_new")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_value_that_is_wrong_is_kept_and_says_why(size: tuple[int, int]) -> None:
    app = app_with()
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "algo.clip_ratio", "abc")
        assert_looks_like(app, "launch_wrong")
        assert screen.errors == {"algo.clip_ratio": "expected number, got 'abc'"}
        await pilot.press("ctrl+r")
        assert "expected number, got 'abc'" in notes(pilot)
        assert app.screen is screen


async def test_a_small_terminal_shows_some_fields_and_the_command() -> None:
    app = app_with()
    async with app.run_test(size=(40, 10)) as pilot:
        await opened(pilot)
        assert "algorithm" in seen(app)
        assert "$ plugrl-flow train" in seen(app)


async def test_numbers_are_taken_as_on_the_command_line() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "algo.learning_rate", "1e-3")
        await type_value(pilot, screen, "algo.rollout_steps", "8_192")
        assert screen.draft.verdict.configs["algo"].learning_rate == 1e-3
        assert screen.draft.verdict.configs["algo"].rollout_steps == 8192
        await pilot.press("u")
        assert screen.draft.value("algo.rollout_steps") == 2048


async def test_a_range_is_checked_where_the_config_checks_it() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "algo.gamma", "2")
        assert screen.errors == {"algo.gamma": "expected between 0 and 1, got 2.0"}
        await go_to(pilot, screen, "run.seed")
        await pilot.press("e")
        assert screen.table.current is not None
        assert screen.table.current.key == "algo.gamma"


async def test_escape_leaves_a_value_as_it_was() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await go_to(pilot, screen, "run.seed")
        await pilot.press("enter", "9", "escape")
        assert screen.draft.value("run.seed") == 0
        assert app.screen is screen


async def test_switches_turn_and_choices_go_round() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await go_to(pilot, screen, "algo.normalize_rewards")
        await pilot.press("space")
        assert screen.draft.value("algo.normalize_rewards") is False
        await go_to(pilot, screen, "policy.activation")
        await pilot.press("right", "right", "left")
        assert screen.draft.value("policy.activation") == "relu"


async def test_an_env_of_discrete_actions_takes_a_policy_for_them() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "names.env", "cartpole")
        assert screen.draft.names.policy == "categorical-policy"
        await until(pilot, lambda: "categorical-policy default ppo" in seen(app))
        assert "took categorical-policy" in notes(pilot)
        assert screen.errors == {}


async def test_an_unknown_env_suggests_the_nearest() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "names.env", "hoper")
        await until(pilot, lambda: "did you mean 'hopper'?" in seen(app))


async def test_pasted_flags_set_fields_and_a_wrong_one_sets_none() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        screen.table.post_message(Paste("--seed 7 --algo.gamma=0.9"))
        await until(pilot, lambda: screen.draft.value("algo.gamma") == 0.9)
        assert screen.draft.value("run.seed") == 7
        screen.table.post_message(Paste("--seed 8 --algo.gama=0.9"))
        await until(pilot, lambda: "did you mean --algo.gamma?" in notes(pilot))
        assert screen.draft.value("run.seed") == 7


async def test_a_command_that_is_pasted_into_the_editor_is_taken_as_one() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await go_to(pilot, screen, "run.seed")
        await pilot.press("enter")
        command = "plugrl launch categorical-policy default ppo cartpole --env cartpole --seed 4"
        screen.query_one(Editor).post_message(Paste(command))
        await until(pilot, lambda: screen.draft.names.policy == "categorical-policy")
        assert screen.draft.value("run.seed") == 4
        assert screen.table.has_focus


async def test_find_and_changed_only_leave_few_fields() -> None:
    app = app_with()
    async with app.run_test(size=(100, 40)) as pilot:
        screen = await opened(pilot)
        await pilot.press("slash", *"discount", "enter")
        await until(pilot, lambda: "algo.gamma" in [row.key for row in screen.table.form])
        assert "run.seed" not in [row.key for row in screen.table.form]
        first = next(row for row in screen.table.form if not row.is_group)
        assert screen.table.current == first
        await pilot.press("escape", "m")
        fields = [row.key for row in screen.table.form if not row.is_group]
        assert fields == ["clients.num_procs", "clients.num_envs"]


async def test_the_draft_is_kept_without_its_key() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "run.seed", "5")
        await type_value(pilot, screen, "server.api_key", "not-for-eyes")
        assert "not-for-eyes" not in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
    assert "not-for-eyes" not in kept_draft.path().read_text()
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        assert (await opened(pilot)).draft.value("run.seed") == 5


async def test_a_damaged_draft_is_begun_anew() -> None:
    kept_draft.path().parent.mkdir(parents=True)
    kept_draft.path().write_text('{"version": 1, "names": 3}')
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        assert (await opened(pilot)).draft == Draft()


async def test_a_name_that_is_taken_is_refused_and_a_free_one_named(here: Path) -> None:
    make_run(here / "checkpoints", "mine")
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "run.exp_name", "mine")
        await until(pilot, lambda: "mine is taken; mine-2 is free" in seen(app))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "mine is taken" in notes(pilot))
        assert app.screen is screen


async def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        app = app_with()
        async with app.run_test(size=(120, 30)) as pilot:
            screen = await opened(pilot)
            await type_value(pilot, screen, "server.port", str(port))
            await until(pilot, lambda: f"can't listen on 127.0.0.1:{port}" in seen(app))


async def test_what_the_machine_lacked_is_looked_at_again_at_the_next_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unable(_: Draft) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(launcher, "launch", unable)
    app = app_with()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            await type_value(pilot, screen, "server.port", str(taken.getsockname()[1]))
            await until(pilot, lambda: "can't listen" in seen(app))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "can't listen" in notes(pilot))
            assert "no more processes" not in notes(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "can't start: no more processes" in notes(pilot))


async def test_without_local_clients_their_command_is_shown() -> None:
    app = app_with()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot)
        await type_value(pilot, screen, "clients.num_procs", "0")
        await until(pilot, lambda: "--num-procs=0" in seen(app))
        assert "plugrl-run-env-client hopper" in seen(app)
        await pilot.press("Y")
        assert app.clipboard.startswith("plugrl-run-env-client hopper")


async def test_the_command_is_copied_as_it_is_shown() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        await pilot.press("y")
        assert app.clipboard == (
            "plugrl-flow train gaussian-policy default ppo default --env=hopper "
            "--exp-name=hopper-ppo-s0 --num-procs=2 --num-envs=4"
        )


async def test_warm_starts_are_offered_only_where_they_can_be() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, CheckpointPicker))
        await until(pilot, lambda: "no run has saved a checkpoint yet" in seen(app))
        await pilot.press("escape")
        await go_to(pilot, screen, "names.algorithm")
        while screen.draft.names.algorithm != "dummy":
            await pilot.press("right")
        await pilot.press("w")
        assert "dummy can't start from a checkpoint" in notes(pilot)


async def test_help_and_default_of_a_field_are_told() -> None:
    app = app_with()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot)
        await go_to(pilot, screen, "algo.target_kl")
        told = "algo.target_kl : number or none, default none"
        assert told in seen(app)
        assert "Leave the epochs early once the approximate KL exceeds" in seen(app)
