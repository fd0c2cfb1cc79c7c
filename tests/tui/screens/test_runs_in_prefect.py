"""RUNS with runs that only Prefect remembers, asked of a real Prefect API."""

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from textual.pilot import Pilot

from plugrl.runs import prefect_api as addresses
from plugrl.runs.records import RunState
from plugrl_tui.app import PlugRLApp
from plugrl_tui.core import remembered
from plugrl_tui.core.history import History
from plugrl_tui.core.remembered import Remembered, RememberedRow
from plugrl_tui.modals.remembered import RememberedBox
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.runs import RunsScreen
from tests.shared_api import client_of
from tests.tui.pictures import seen, until
from tests.tui.run_folders import make_run

pytestmark = [pytest.mark.usefixtures("own_home"), pytest.mark.integration]
PARAMETERS = {
    "policy": "gaussian-policy",
    "policy_variant": "default",
    "algorithm": "ppo",
    "algorithm_variant": "default",
    "env": "hopper",
}


@pytest.fixture
def client(
    prefect_api: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    monkeypatch.setenv(addresses.API_VARIABLE, prefect_api)
    with client_of(prefect_api) as client:
        yield client


def remember(client: httpx.Client, name: str, state: str, message: str = "", **more: Any) -> str:
    flow = client.post("/flows/", json={"name": "train"}).raise_for_status().json()
    about = {"flow_id": flow["id"], "name": name, "tags": [name], "parameters": PARAMETERS, **more}
    state_of_it = {"type": state, "name": state.capitalize(), "message": message}
    made = client.post("/flow_runs/", json={**about, "state": state_of_it}).raise_for_status()
    return str(made.json()["id"])


def unique() -> str:
    return f"run-{uuid.uuid4().hex[:8]}"


def read(name: str) -> list[RememberedRow]:
    return [row for row in Remembered().read(History().read().rows) if row.name == name]


@pytest.mark.parametrize(
    ("state", "ours"),
    [
        ("COMPLETED", RunState.DONE),
        ("CRASHED", RunState.FAILED),
        ("FAILED", RunState.FAILED),
        ("CANCELLED", RunState.STOPPED),
    ],
)
def test_a_run_without_a_folder_is_what_prefect_says(
    client: httpx.Client, state: str, ours: RunState
) -> None:
    name = unique()
    remember(client, name, state, "out of memory")
    (row,) = read(name)
    assert (row.state, row.run.record.env, row.where) == (ours, "hopper", "prefect")
    assert "only Prefect remembers it" in row.reason
    assert "out of memory" in row.reason
    assert not row.lives
    assert row.page.endswith(f"/runs/flow-run/{row.flow_run_id}")


def test_a_run_with_a_folder_is_no_second_one(client: httpx.Client, tmp_path: Path) -> None:
    name = unique()
    flow_run_id = remember(client, name, "COMPLETED")
    assert len(read(name)) == 1
    make_run(tmp_path, name, flow_run_id=flow_run_id)
    assert read(name) == []


def test_a_run_that_has_just_begun_may_have_its_folder_yet(client: httpx.Client) -> None:
    name = unique()
    remember(client, name, "RUNNING")
    assert read(name) == []


def test_another_s_flow_that_is_called_train_is_no_run_of_ours(client: httpx.Client) -> None:
    name = unique()
    remember(client, name, "COMPLETED", tags=["gpu"], parameters={"env": {"id": 7}})
    assert read(name) == []


def test_an_api_that_is_away_remembers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(addresses.API_VARIABLE, "http://127.0.0.1:9/api")
    assert Remembered().read(()) == ()


def test_a_run_that_is_forgotten_is_shown_no_more(client: httpx.Client) -> None:
    name, other = unique(), unique()
    for each in (name, other):
        remember(client, each, "COMPLETED")
    for each in (name, other):
        assert len(read(each)) == 1
        remembered.forget(read(each)[0].flow_run_id)
        assert read(each) == []


async def opened(pilot: Pilot[None], name: str) -> RunsScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    # The API is shared with other tests, which leave runs there, too.
    await until(pilot, lambda: any(row.name == name for row in screen.table.runs))
    screen._filter = f"where:prefect {name}"
    screen._show()
    await until(pilot, lambda: len(screen.table.runs) == 1)
    return screen


async def test_it_is_marked_shown_and_can_t_be_resumed(client: httpx.Client) -> None:
    name = unique()
    remember(client, name, "CRASHED", "exit code 137: out of memory")
    app = PlugRLApp()
    async with app.run_test(size=(140, 45)) as pilot:
        await opened(pilot, name)
        assert f"{name} (prefect)" in seen(app)
        assert "only in Prefect" in seen(app)
        await pilot.press("r", "N", "space")
        for done in ("resumed", "copied", "marked"):
            assert f"{name} can't be {done}" in notes(pilot)
        assert not isinstance(app.screen, LaunchScreen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RememberedBox))
        await until(pilot, lambda: "Crashed: exit code 137: out of memory" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_without_a_desktop_its_page_is_copied_and_it_can_be_forgotten(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    name = unique()
    flow_run_id = remember(client, name, "COMPLETED")
    app = PlugRLApp()
    async with app.run_test(size=(140, 45)) as pilot:
        screen = await opened(pilot, name)
        await pilot.press("o")
        assert app.clipboard.endswith(f"/runs/flow-run/{flow_run_id}")
        await pilot.press("D")
        await until(pilot, lambda: screen.table.runs == [])
        assert f"{name} is forgotten here; Prefect keeps it" in notes(pilot)
    kept = await asyncio.to_thread(client.get, f"/flow_runs/{flow_run_id}")
    assert kept.json()["name"] == name


def notes(pilot: Pilot[None]) -> str:
    return " | ".join(note.message for note in pilot.app._notifications)
