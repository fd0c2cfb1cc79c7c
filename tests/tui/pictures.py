"""What a person sees, as text: compared with what was seen, and looked at, before.

Text and not SVG: a picture takes three kilobytes, a change of it can be read in a diff, and none of
them changes with a version of Textual that draws the same. Colour never carries meaning alone here.
``PLUGRL_UPDATE_PICTURES=1`` writes them anew.
"""

import asyncio
import difflib
import os
from collections.abc import Callable
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from plugrl_tui.core.raster import NO_DOTS

PICTURES = Path(__file__).parent / "pictures"
SIZES = ((80, 24), (140, 45))


def seen(app: App[None]) -> str:
    """The screen's lines."""
    strips = app.screen._compositor.render_strips()
    lines = (strip.text.replace(NO_DOTS, " ").rstrip() for strip in strips)
    return "\n".join(lines).rstrip() + "\n"


def assert_looks_like(app: App[None], name: str) -> None:
    """Compare the screen with the picture ``name``."""
    path = PICTURES / f"{name}_{app.size.width}x{app.size.height}.txt"
    now = seen(app)
    if os.environ.get("PLUGRL_UPDATE_PICTURES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(now, "utf-8")
    assert path.exists(), f"no picture yet: PLUGRL_UPDATE_PICTURES=1 makes it, then look at {path}"
    before = path.read_text("utf-8")
    difference = difflib.unified_diff(
        before.splitlines(), now.splitlines(), "before", "now", "", ""
    )
    assert now == before, "\n".join(difference)


async def until(pilot: Pilot[None], condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Let the app run until ``condition`` holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause(0.02)
