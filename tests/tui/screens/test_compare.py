"""COMPARE: curves over one another, differences, files."""

import csv
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from textual.pilot import Pilot

from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.modals.error import ErrorBox
from plugrl_tui.screens.compare import CompareScreen
from tests.tui.pictures import SIZES, assert_looks_like, seen, until
from tests.tui.run_folders import make_run, write_returns

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ...]:
    monkeypatch.chdir(tmp_path)
    made = []
    for place, rate in enumerate((3e-4, 1e-3, 3e-3)):
        config: dict[str, Any] = {"algo": {"learning_rate": rate, "gamma": 0.99}}
        folder = make_run(tmp_path / "ckpt", f"hopper-s{place}", config=config, step=40_000)
        write_returns(folder, [(place + 1) * n * (60 - n) / 9 for n in range(40)])
        made.append(folder)
    return tuple(made)


async def opened(pilot: Pilot[None]) -> CompareScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
    screen = pilot.app.screen
    assert isinstance(screen, CompareScreen)
    await until(pilot, lambda: all(run.model.curves.steps for run in screen.chart.runs))
    await until(pilot, lambda: "steps" in seen(pilot.app))
    await until(pilot, lambda: "shows them" in seen(pilot.app) and "n Metric" in seen(pilot.app))
    return screen


def app_with(folders: tuple[Path, ...]) -> PlugRLApp:
    return PlugRLApp(Start(screen="compare", options={"runs": folders}))


def notes(app: PlugRLApp) -> list[str]:
    return [note.message for note in app._notifications]


def told(app: PlugRLApp) -> set[str]:
    """The kinds of the files that are said to be written."""
    return {words.rpartition(".")[2] for words in notes(app) if words.startswith("wrote ")}


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_three_runs(folders: tuple[Path, ...], size: tuple[int, int]) -> None:
    app = app_with(folders)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        assert_looks_like(app, "compare")


async def test_only_what_differs_is_told_until_asked(folders: tuple[Path, ...]) -> None:
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot)
        assert "algo.learning_rate" in seen(app)
        assert "algo.gamma" not in seen(app)
        await pilot.press("m")
        assert "algo.gamma" in seen(app)


async def test_metric_axis_and_smoothing_turn(folders: tuple[Path, ...]) -> None:
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        screen = await opened(pilot)
        await pilot.press("n", "x", "e")
        assert screen.chart.metric == "train/entropy"
        assert "train/entropy (ema 0.9)" in seen(app)
        assert "6:30 since its start" in seen(app)


async def test_a_run_that_goes_on_is_drawn_on(folders: tuple[Path, ...]) -> None:
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot)
        with (folders[0] / "metrics.jsonl").open("a") as file:
            file.write('{"step": 80000, "time": 500, "rollout/episode_return_mean": 1.0}\n')
        await until(pilot, lambda: "80k steps" in seen(app))


async def test_exports_hold_every_point(folders: tuple[Path, ...], tmp_path: Path) -> None:
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot)
        await pilot.press("s", "S")
        await until(pilot, lambda: {"csv", "svg"} <= told(app))
    with (tmp_path / "compare-hopper-s0-hopper-s1-hopper-s2.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 40
    assert rows[1]["run"] == "hopper-s0"
    picture = ET.parse(tmp_path / "compare-hopper-s0-hopper-s1-hopper-s2.svg")
    lines = picture.getroot().findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [40, 40, 40]


async def test_a_folder_that_can_not_be_written_is_a_sentence(
    folders: tuple[Path, ...], tmp_path: Path
) -> None:
    (tmp_path / "compare-hopper-s0-hopper-s1-hopper-s2.csv").mkdir()
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot)
        await pilot.press("s")
        await until(pilot, lambda: "can't write" in " ".join(notes(app)))
        assert "directory" in " ".join(notes(app))


async def test_one_run_alone_is_refused(folders: tuple[Path, ...]) -> None:
    app = app_with(folders[:1])
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ErrorBox))
        assert "expected 2 to 4 runs to compare, got 1" in seen(app)


async def test_a_folder_that_is_deleted_meanwhile_is_told_with_the_run_s_letter(
    folders: tuple[Path, ...],
) -> None:
    app = app_with(folders)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot)
        shutil.rmtree(folders[1])
        await until(pilot, lambda: "B: its folder is gone: it was deleted or moved" in seen(app))
        assert "hopper-s1" in seen(app)
