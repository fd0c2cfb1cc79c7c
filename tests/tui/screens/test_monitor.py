"""MONITOR while its run goes on."""

import os

import pytest
from textual.app import App

from plugrl_tui.app import PlugRLApp
from plugrl_tui.core.feed import FeedError
from plugrl_tui.core.feed_demo import played
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import Learn, LogLine
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.widgets.infer_pane import InferPane
from plugrl_tui.widgets.log_view import LogView
from plugrl_tui.widgets.pane import Pane
from plugrl_tui.widgets.worker_table import WorkerTable
from tests.tui.clock import NOW, Clock
from tests.tui.pictures import assert_looks_like, seen, until
from tests.tui.screens.monitors import STATUS, Still, learning, monitor, running, settled

pytestmark = pytest.mark.usefixtures("own_home")


async def test_without_news_nothing_is_painted(monkeypatch):
    app = monitor(running())
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        painted: list[App[None]] = []
        monkeypatch.setattr(PlugRLApp, "_display", lambda self, *a, **k: painted.append(self))
        screen = app.screen
        assert isinstance(screen, MonitorScreen)
        for _ in range(40):
            screen.tick()
            await pilot.pause()
        assert painted == []


async def test_news_paint_the_rows_that_changed_and_no_others():
    model = running()
    app = monitor(model)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        pane = app.screen.query_one(InferPane)
        before = list(pane._strips)
        assert model.snapshot is not None
        queue = model.snapshot.queue._replace(requests=1)
        model.take_snapshot(model.snapshot._replace(queue=queue))
        pane.draw()
        same = [old is new for old, new in zip(before, pane._strips, strict=True)]
        assert same == [False, True, True, True]


async def test_a_pane_that_fails_says_so_and_the_others_go_on(monkeypatch):
    def fail(self: Pane, width: int, height: int) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(InferPane, "rows", fail)
    app = monitor(running())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "this pane failed: ValueError" in seen(app)
        assert "older policy" in seen(app)


async def test_a_frozen_screen_holds_still_and_then_catches_up():
    model = running()
    app = monitor(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("space")
        assert "FROZEN" in seen(app)
        model.add_log([LogLine(NOW, "INFO", "while it was frozen")])
        await settled(app, pilot)
        assert "while it was frozen" not in seen(app)
        await pilot.press("space")
        await until(pilot, lambda: "while it was frozen" in seen(app))


async def test_save_and_reconnect_reach_the_feed_and_a_refusal_is_a_sentence():
    feed = Still()
    app = monitor(running(), feed)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("k", "R")
        assert (feed.sent, feed.retried) == (["save"], 1)
        feed.error = FeedError("expected a connection, there is none now")
        await pilot.press("k")
        await until(pilot, lambda: "not saved" in seen(app))


async def test_a_stop_asks_shows_its_stages_and_ends():
    model, feed = learning(), Still()
    app = monitor(model, feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s")
        assert "Stop demo?" in seen(app)
        assert feed.sent == []
        await pilot.press("enter", "enter")
        assert feed.sent == ["stop"]
        assert model.snapshot is not None
        snapshot = model.snapshot._replace(stopping=True, learn=Learn(3, 10, 4, 32, 1.0))
        model.take_snapshot(snapshot)
        await until(pilot, lambda: "◐ finish what is in progress (epoch 4/10" in seen(app))
        await until(pilot, lambda: "epoch 4/10   last" in seen(app))
        assert_looks_like(app, "monitor_stopping")
        model.take_snapshot(snapshot._replace(phase="stopping", learn=None))
        await until(pilot, lambda: "✓ finish" in seen(app) and "◐ save" in seen(app))
        model.set_link(Link.ENDED)
        await until(pilot, lambda: "demo is STOPPED" in seen(app))
        await pilot.press("escape")
        assert isinstance(app.screen, MonitorScreen)


async def test_force_is_offered_only_after_a_graceful_stop_has_had_its_time(monkeypatch):
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, signum: killed.append(pid))
    model = running()
    model.status = STATUS
    app = monitor(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "F", "enter", "F")
        assert killed == []
        assert isinstance(model.clock, Clock)
        model.clock.now += 60
        await until(pilot, lambda: "F kills its processes" in seen(app))
        await pilot.press("F")
        assert killed == [os.getpid()]


async def test_the_log_pages_back_filters_and_follows_again():
    model = running()
    model.add_log(LogLine(NOW, "INFO", f"line {n}") for n in range(200))
    model.add_log([LogLine(NOW, "WARNING", "a warning")])
    app = monitor(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6", "z")
        assert "a warning" in seen(app)
        await pilot.press("pageup")
        assert "a warning" not in seen(app)
        assert "lines below" in seen(app)
        await pilot.press("end")
        assert "a warning" in seen(app)
        await pilot.press("v")
        assert "line 199" not in seen(app)
        assert "a warning" in seen(app)
        view = app.screen.query_one(LogView)
        await pilot.press("v", "v", "v", "slash", *"line 19", "enter")
        assert view.search == "line 19"
        assert "line 199" in seen(app)
        assert "line 200" not in seen(app)


async def test_a_thousand_workers_are_moved_through():
    app = monitor(played(12, clock=Clock(), num_workers=1000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2", "z")
        for _ in range(3):
            await pilot.press("pagedown")
        table = app.screen.query_one(WorkerTable)
        assert table.cursor > 30
        await pilot.press("o")
        assert "id▾" in seen(app)


async def test_the_chart_is_read_with_a_cursor():
    app = monitor(running())
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.press("5", "left", "left")
        assert " at step " in seen(app)
        await pilot.press("c", "m", "e", "l", "x")
        assert "episode_length_mean (ema 0.9, log)" in seen(app)


async def test_what_a_log_says_is_never_obeyed_by_the_terminal():
    model = running()
    model.name = "x"
    model.add_log([LogLine(NOW, "INFO", "\x1b[2J\x1b]0;owned\x07 [bold]and markup")])
    app = monitor(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "\x1b" not in seen(app)
        assert "·[2J·]0;owned· [bold]and markup" in seen(app)


async def test_a_feed_that_fails_is_told_and_the_screen_stays():
    class Failing(Still):
        async def run(self, model: RunModel) -> None:
            raise RuntimeError("a bug")

    app = monitor(running(), Failing())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no more news: RuntimeError: a bug" in seen(app))
        assert "older policy" in seen(app)
