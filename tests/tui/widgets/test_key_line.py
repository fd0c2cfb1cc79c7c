"""The last line: what can be pressed now, by key or by mouse."""

import pytest

from plugrl_tui.modals.stop import StopBox
from plugrl_tui.widgets.key_line import KeyLine
from tests.tui.pictures import seen
from tests.tui.screens.monitors import monitor, running

pytestmark = pytest.mark.usefixtures("own_home")


def last_line(app) -> str:
    return seen(app).splitlines()[-1]


async def test_it_follows_the_focus():
    app = monitor(running())
    async with app.run_test(size=(140, 45)) as pilot:
        assert "Metric" not in last_line(app)
        await pilot.press("5")
        assert last_line(app).strip().startswith("m Metric")


async def test_no_key_is_cut():
    app = monitor(running())
    async with app.run_test(size=(60, 18)) as pilot:
        await pilot.press("6")
        words = last_line(app).split("  ")
        assert len(words) > 3
        assert all(" " in word.strip() for word in words)


async def test_a_click_presses_the_key():
    app = monitor(running())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.click(KeyLine, offset=(last_line(app).index("Stop"), 0))
        await pilot.pause()
        assert isinstance(app.screen, StopBox)
