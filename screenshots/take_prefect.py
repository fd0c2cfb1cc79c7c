"""Takes the picture of Prefect's page of a run: ``python -m screenshots.take_prefect``.

Trains a short run on Hopper with ``plugrl-flow train``, kills its server once, waits until the run
has completed all the same, and writes what Chromium shows of it, with the attempt that crashed
opened to its checkpoint tasks. Needs what ``pip install -e '.[all]'`` brings, and Chromium (on
Debian: ``apt-get install chromium``). Takes about a minute and a half.
"""

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import imageio.v3
import numpy as np
import psutil

from flows import api
from plugrl.errors import RunRecordError
from plugrl.runs import prefect_api, records
from plugrl.runs.catalog import find_run
from plugrl.runs.home import HOME_VARIABLE
from screenshots.browser import Page, browser

NAME = "hopper-1"
TRAIN = (
    *("train", "gaussian-policy", "default", "ppo", "default", "--env", "hopper", "--port", "0"),
    *("--num-procs", "2", "--num-envs", "4", "--retry-delay", "0.5", "--exp-name", NAME),
    *("--algo.global-steps", "40960", "--algo.save-interval", "4"),
)
SAVES_BEFORE_DEATH = 2
DEADLINE_S = 300.0
SIZE = (1400, 734)
CRASHED_COLOUR = (234, 88, 12)
"""Of the bar of an attempt that crashed."""
ARROW_PIXELS = 16
"""From the bar's left end to the arrow that opens it."""


def survivor(folder: Path) -> None:
    """A run that completes although its server was killed."""
    process = subprocess.Popen([sys.executable, "-m", "flows.cli", *TRAIN])  # noqa: S603 -- ours
    try:
        deadline = time.monotonic() + DEADLINE_S
        while num_saves(folder) < SAVES_BEFORE_DEATH:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("expected a run that saves checkpoints; see above")
            time.sleep(0.1)
        server_pid = records.read_status(folder).server_pid
        assert server_pid is not None
        psutil.Process(server_pid).send_signal(signal.SIGKILL)
        if code := process.wait(DEADLINE_S):
            raise SystemExit(f"expected a run that completes, its exit code is {code}; see above")
    finally:
        process.terminate()


def num_saves(folder: Path) -> int:
    """Checkpoints that the run has told of."""
    try:
        return sum(event.event == "saved" for event in records.read_events(folder))
    except (FileNotFoundError, RunRecordError):
        return 0


async def picture(folder: Path) -> bytes:
    """Prefect's page of the run in ``folder``, as PNG."""
    status = records.read_status(folder)
    url = prefect_api.known_url()
    assert url is not None
    assert status.flow_run_id is not None
    width, height = SIZE
    async with browser(width=width, height=height) as page:
        # The last line of its log, and one of its tags.
        address = prefect_api.flow_run_page(url, status.flow_run_id)
        await page.open(address, "Finished in state Completed('done')", "gaussian-policy")
        await open_crashed_attempt(page)
        return await page.picture()


async def open_crashed_attempt(page: Page) -> None:
    """Click on the arrow of the bar that is drawn for it: a canvas has nothing else to ask for."""
    pixels = imageio.v3.imread(await page.picture())[..., :3].astype(int)
    rows, columns = np.nonzero((abs(pixels - CRASHED_COLOUR) < 8).all(axis=-1))
    if not len(rows):
        raise SystemExit("expected the bar of an attempt that crashed, its colour is not there")
    await page.click(int(columns.min()) + ARROW_PIXELS, int(rows.mean()))


def unused_port() -> int:
    """A port that nobody holds at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Take the picture, in a home, with an API and in a working directory that are made for it."""
    parser = argparse.ArgumentParser(description="Take the picture of Prefect's page of a run.")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    path: Path = parser.parse_args().folder.absolute() / "prefect_run.png"
    with tempfile.TemporaryDirectory(prefix="plugrl-screenshots-") as temporary:
        os.environ[HOME_VARIABLE] = str(Path(temporary, "home"))
        os.environ[prefect_api.PORT_VARIABLE] = str(unused_port())
        os.environ.pop(prefect_api.API_VARIABLE, None)
        os.chdir(temporary)
        try:
            survivor(Path("checkpoints", "ppo", "gaussian-policy", NAME))
            path.write_bytes(asyncio.run(picture(find_run(NAME).path)))
        finally:
            api.stop()


if __name__ == "__main__":
    main()
