"""Takes the pictures of the README from real runs: ``python -m screenshots.take``.

Trains two short runs on Hopper, with keys and flags as a person would, and writes every screen as
SVG; as PNG too where ``rsvg-convert`` and a mono font (Fira Code) are installed. Takes about two
minutes; run it again when a screen changes.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot

from plugrl.runs import records
from plugrl.runs.catalog import find_run
from plugrl.runs.home import HOME_VARIABLE
from plugrl.runs.records import RunState
from plugrl_tui.app import PlugRLApp
from plugrl_tui.core.model import Link
from plugrl_tui.screens.compare import CompareScreen
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.screens.runs import RunsScreen
from plugrl_tui.widgets.field_table import FieldTable

SIZES = ((80, 24), (140, 45))
DEADLINE_S = 180.0
FLAGS = "--no-prefect --port 0 --num-procs 2 --num-envs 4 --algo.rollout-steps 1024 "
FIRST = FLAGS + "--algo.global-steps 40_000 --algo.num-minibatches 8 --algo.num-epochs 6"
SECOND = FLAGS + "--algo.global-steps 400_000 --algo.learning-rate 1e-3 --algo.num-minibatches 8"
LEARNS_TO_SHOW = 24
"""Learns of the live run before it is pictured."""
PNG_WIDTH = 1200


class Camera:
    """Writes what an app shows."""

    def __init__(self, folder: Path) -> None:
        """Write into ``folder``."""
        self._folder = folder
        self._converter = shutil.which("rsvg-convert")

    def take(self, pilot: Pilot[None], name: str) -> None:
        """Write the screen as ``name`` and its size."""
        width, height = pilot.app.size
        path = self._folder / f"{name}_{width}x{height}.svg"
        # Without it, viewers other than browsers drop the blanks that hold the columns apart.
        picture = pilot.app.export_screenshot().replace("<svg ", '<svg xml:space="preserve" ', 1)
        path.write_text(picture, "utf-8")
        if self._converter is not None:
            png = path.with_suffix(".png")
            command = [self._converter, "-w", str(PNG_WIDTH), str(path), "-o", str(png)]
            subprocess.run(command, check=True)  # noqa: S603 -- a converter and our own files


async def until(pilot: Pilot[None], what: str, holds: Callable[[], bool]) -> None:
    """Let the app run until ``holds``."""
    async with asyncio.timeout(DEADLINE_S):
        while not holds():
            await pilot.pause(0.05)
    print(what, flush=True)  # noqa: T201 -- a script tells how far it is


async def launch(pilot: Pilot[None], flags: str) -> MonitorScreen:
    """Start a run from LAUNCH with pasted flags."""
    await until(pilot, "LAUNCH", lambda: isinstance(pilot.app.screen, LaunchScreen))
    pilot.app.screen.query_one(FieldTable).post_message(Paste(flags))
    await pilot.pause(0.5)
    await pilot.press("ctrl+r")
    await until(pilot, "MONITOR", lambda: isinstance(pilot.app.screen, MonitorScreen))
    screen = pilot.app.screen
    assert isinstance(screen, MonitorScreen)
    await until(pilot, "live", lambda: screen.model.link is Link.LIVE)
    return screen


async def first_run() -> None:
    """A whole run, started from an empty RUNS."""
    async with PlugRLApp().run_test(size=SIZES[0]) as pilot:
        await until(pilot, "RUNS", lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("n")
        await launch(pilot, FIRST)
        folder = find_run("hopper-ppo-s0").path
        await until(pilot, "done", lambda: records.read_status(folder).state is RunState.DONE)


async def launch_form(camera: Camera, size: tuple[int, int]) -> None:
    """LAUNCH with a few changes."""
    async with PlugRLApp().run_test(size=size) as pilot:
        await until(pilot, "RUNS", lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("n")
        await until(pilot, "LAUNCH", lambda: isinstance(pilot.app.screen, LaunchScreen))
        table = pilot.app.screen.query_one(FieldTable)
        table.post_message(Paste("--algo.learning-rate 1e-3 --algo.num-epochs 6"))
        await pilot.pause(0.5)
        table.open_at("algo.learning_rate")
        await pilot.pause(1.0)
        camera.take(pilot, "launch")


async def live_run(camera: Camera) -> None:
    """MONITOR and RUNS of a run that learns, then a stop."""
    name = "hopper-ppo-s0-2"
    async with PlugRLApp().run_test(size=SIZES[0]) as pilot:
        await until(pilot, "RUNS", lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("n")
        await launch(pilot, SECOND)
    folder = find_run(name).path
    for size in SIZES:
        async with PlugRLApp().run_test(size=size) as pilot:
            await until(pilot, "RUNS", lambda: isinstance(pilot.app.screen, RunsScreen))
            await until(pilot, "learned", lambda: num_learns(folder) >= LEARNS_TO_SHOW)
            await pilot.pause(2.5)
            camera.take(pilot, "runs")
            await pilot.press("enter")
            await until(pilot, "MONITOR", lambda: isinstance(pilot.app.screen, MonitorScreen))
            await pilot.pause(6.0)
            camera.take(pilot, "monitor")
            if size == SIZES[-1]:
                await pilot.press("s", "enter")
                await until(pilot, "over", lambda: records.read_status(folder).state.final)


def num_learns(folder: Path) -> int:
    """Learns of a run so far."""
    return records.read_status(folder).num_learns


async def comparison(camera: Camera, size: tuple[int, int]) -> None:
    """COMPARE of both."""
    async with PlugRLApp().run_test(size=size) as pilot:
        await until(pilot, "RUNS", lambda: isinstance(pilot.app.screen, RunsScreen))
        screen = pilot.app.screen
        assert isinstance(screen, RunsScreen)
        await until(pilot, "both", lambda: len(screen.table.runs) == 2)
        await pilot.press("space", "space", "c")
        await until(pilot, "COMPARE", lambda: isinstance(pilot.app.screen, CompareScreen))
        await pilot.pause(1.5)
        camera.take(pilot, "compare")


async def take_all(folder: Path) -> None:
    """All pictures."""
    camera = Camera(folder)
    await first_run()
    await live_run(camera)
    for size in SIZES:
        await launch_form(camera, size)
        await comparison(camera, size)


def main() -> None:
    """Take all pictures, in a home and a working directory that are made for it."""
    parser = argparse.ArgumentParser(description="Take the README's pictures from real runs.")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    folder: Path = parser.parse_args().folder.absolute()
    with tempfile.TemporaryDirectory(prefix="plugrl-screenshots-") as temporary:
        os.environ[HOME_VARIABLE] = str(Path(temporary, "home"))
        os.chdir(temporary)
        asyncio.run(take_all(folder))


if __name__ == "__main__":
    main()
