"""The app's process knows nothing of what trains, in any of its screens."""

import subprocess
import sys

import pytest

FORBIDDEN = ("torch", "prefect", "gymnasium", "mujoco", "flows")
SHOW = """
import asyncio, sys
from plugrl_tui.app import PlugRLApp, Start

async def show(screen, **options):
    app = PlugRLApp(Start(screen=screen, options=options))
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        assert type(app.screen).__name__.lower() == screen + "screen", app.screen

asyncio.run(show({screen!r}, **{options!r}))
print(" ".join(name for name in {forbidden!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("screen", "options"), [("runs", {}), ("monitor", {"target": "demo"}), ("launch", {})]
)
def test_no_screen_imports_what_trains(screen, options, own_home):
    code = SHOW.format(screen=screen, options=options, forbidden=FORBIDDEN)
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.strip()) == (0, ""), shown.stderr


@pytest.mark.parametrize(
    ("screen", "later"),
    [
        ("runs", ("plugrl_tui.core.history", "plugrl.runs.records", "psutil", "tyro", "httpx")),
        ("monitor", ("psutil", "tyro", "httpx", "websockets", "plugrl_tui.core.draft")),
    ],
)
def test_a_first_picture_waits_for_nothing_that_it_does_not_show(screen, later):
    code = f"import sys, plugrl_tui.app, plugrl_tui.screens.{screen}\n"
    code += f"print(*(name for name in {later!r} if name in sys.modules))"
    command = [sys.executable, "-c", code]
    imported = subprocess.run(command, capture_output=True, text=True, check=True)
    assert imported.stdout.strip() == ""
