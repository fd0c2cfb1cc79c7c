"""What keys do at MONITOR, the usual ones and a person's own."""

import pytest

from plugrl_tui.screens.monitor import MonitorScreen
from tests.tui.pictures import seen, until
from tests.tui.screens.monitors import Still, monitor, running

pytestmark = pytest.mark.usefixtures("own_home")


async def test_escape_leaves_the_zoom_and_then_the_screen():
    app = monitor(running())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2", "z")
        assert "state" in seen(app)
        await pilot.press("escape")
        assert isinstance(app.screen, MonitorScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen, MonitorScreen)


async def test_ctrl_c_ends_nothing_and_says_how_to_leave():
    app = monitor(running())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "q leaves the app" in seen(app))
        assert app.is_running


async def test_a_key_given_by_the_person_replaces_the_usual_one(own_home):
    own_home.mkdir()
    (own_home / "tui.json").write_text('{"keys": {"monitor.save": "ctrl+s"}}')
    feed = Still()
    app = monitor(running(), feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("k")
        assert feed.sent == []
        await pilot.press("ctrl+s")
        assert feed.sent == ["save"]
        await pilot.press("question_mark")
        assert "^s          Save a checkpoint now." in seen(app)


async def test_settings_that_are_wrong_are_told_and_the_app_goes_on(own_home):
    own_home.mkdir()
    (own_home / "tui.json").write_text('{"keys": {"monitor.sav": "x"}}')
    app = monitor(running())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "did you mean 'monitor.save'" in seen(app).replace("\n", " "))
        await pilot.press("escape")
        assert isinstance(app.screen, MonitorScreen)


async def test_a_theme_is_kept_for_the_next_time(own_home):
    app = monitor(running())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("T")
        assert app.theme == "plugrl-light"
    again = monitor(running())
    async with again.run_test(size=(80, 24)):
        assert again.theme == "plugrl-light"


async def test_the_palette_does_what_a_key_does():
    feed = Still()
    app = monitor(running(), feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"Save: mon")
        await until(pilot, lambda: "Save a checkpoint now." in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: feed.sent == ["save"])
