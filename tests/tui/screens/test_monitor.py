"""MONITOR in every state, as a person sees it."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace

import pytest
from textual.app import App
from textual.pilot import Pilot

from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import RunState, RunStatus
from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core.attach import Attached
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
from tests.tui.pictures import SIZES, assert_looks_like, seen, until

pytestmark = pytest.mark.usefixtures("own_home")
STATUS = RunStatus(
    state=RunState.RUNNING,
    step=412_672,
    total_steps=1_000_000,
    num_learns=50,
    updated_at=NOW,
    host=this_host(),
    pid=os.getpid(),
    pid_started=own_start(),
)


class Still:
    """A feed without news; what it is sent is kept, or refused."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.error: FeedError | None = None
        self.retried = 0

    async def run(self, model: RunModel) -> None:
        await asyncio.Event().wait()

    async def send(self, command: str) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(command)

    def retry_now(self) -> None:
        self.retried += 1


def monitor(model: RunModel, feed: Still | None = None, *, ascii_only: bool = False) -> PlugRLApp:
    attached = Attached(model, feed or Still())
    return PlugRLApp(Start(screen="monitor", options={"attached": attached}, ascii_only=ascii_only))


def running(seconds: float = 20.0) -> RunModel:
    return played(seconds, clock=Clock())


async def settled(app: App[None], pilot: Pilot[None]) -> None:
    """Everything that is known is drawn, whatever the timers have done so far."""
    await pilot.pause()
    (screen,) = (each for each in app.screen_stack if isinstance(each, MonitorScreen))
    for _ in range(9):
        screen.tick()
    await pilot.pause()


def from_files(**changes: object) -> RunModel:
    """A run that is known from its folder alone."""
    model, source = RunModel("hopper-s3", clock=Clock()), running()
    model.curves, model.curves_from_files = source.curves, True
    model.folder = "/runs/hopper-s3"
    model.status = replace(STATUS, **changes)  # type: ignore[arg-type]
    model.add_log([LogLine(NOW, "ERROR", "the learn diverged: loss is NaN")])
    return model


def learning() -> RunModel:
    return running(7)


def waiting() -> RunModel:
    model = running()
    assert model.snapshot is not None
    model.workers.forget()
    model.take_snapshot(model.snapshot._replace(workers=(), learn=None))
    return model


def stale() -> RunModel:
    model = running()
    clock = model.clock
    assert isinstance(clock, Clock)
    clock.now += 12
    return model


def linked(link: Link, reason: str, *, seen_before: bool = True) -> RunModel:
    model = running() if seen_before else RunModel("ws://gpu-box:8000", url="ws://gpu-box:8000")
    model.clock = Clock()
    model.set_link(link, reason, retry_at=NOW + 7)
    return model


def damaged() -> RunModel:
    model = from_files()
    model.problems = ("expected a JSON object, got nothing, at /runs/hopper-s3/run.json",)
    return model


STATES: dict[str, Callable[[], RunModel]] = {
    "running": running,
    "learning": learning,
    "waiting": waiting,
    "stale": stale,
    "starting": lambda: linked(Link.CONNECTING, "", seen_before=False),
    "never_reached": lambda: linked(
        Link.RECONNECTING, "nothing listens at ws://gpu-box:8000", seen_before=False
    ),
    "reconnecting": lambda: linked(Link.RECONNECTING, "ws://127.0.0.1:8000 does not answer"),
    "refused": lambda: linked(
        Link.REFUSED, "ws://gpu-box:8000 wants its key: set PLUGRL_API_KEY", seen_before=False
    ),
    "other_version": lambda: linked(
        Link.REFUSED, "expected snapshot version 1, got 2", seen_before=False
    ),
    "stalled": lambda: from_files(updated_at=NOW - 90),
    "lost": lambda: from_files(pid=2**22 + 1, updated_at=NOW - 9),
    "between_attempts": lambda: from_files(
        state=RunState.WAITING, reason="crashed (killed by SIGKILL), attempt 3 begins in 5 s"
    ),
    "done": lambda: from_files(state=RunState.DONE, step=1_000_448),
    "stopped": lambda: from_files(state=RunState.STOPPED, reason="stopped on request"),
    "failed": lambda: from_files(state=RunState.FAILED, reason="the learn diverged: loss is NaN"),
    "damaged": damaged,
}


async def at_every_size(app: App[None], pilot: Pilot[None], name: str) -> None:
    """Compare the picture ``name`` at the size the app began with, and at the others."""
    for size in SIZES:
        if app.size != size:
            await pilot.resize_terminal(*size)
        await settled(app, pilot)
        assert_looks_like(app, f"monitor_{name}")


@pytest.mark.parametrize("name", STATES)
async def test_every_state_has_its_sign_its_word_and_its_reason(name):
    app = monitor(STATES[name]())
    async with app.run_test(size=SIZES[0]) as pilot:
        await at_every_size(app, pilot, name)


@pytest.mark.parametrize("number", range(1, 7))
async def test_every_pane_shows_more_when_it_has_the_screen(number):
    app = monitor(running())
    async with app.run_test(size=SIZES[0]) as pilot:
        await pilot.press(str(number))
        if number != 5:  # at this size the chart has no room but the whole screen
            await pilot.press("z")
        await at_every_size(app, pilot, f"zoom_{number}")


@pytest.mark.parametrize(("name", "key"), [("help", "question_mark"), ("stop", "s")])
async def test_boxes_stand_above_the_panes(name, key):
    app = monitor(running())
    async with app.run_test(size=SIZES[0]) as pilot:
        await settled(app, pilot)
        await pilot.press(key)
        await at_every_size(app, pilot, name)


@pytest.mark.parametrize(
    "size", [(40, 10), (60, 18), (120, 20), (100, 40), (200, 50), (1, 1)], ids=str
)
async def test_every_size_shows_something_that_makes_sense(size):
    app = monitor(running())
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        if size != (1, 1):
            assert_looks_like(app, "monitor_size")


async def test_ascii_leaves_no_other_sign_on_the_screen():
    app = monitor(running(), ascii_only=True)
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        segments = [s.text for strip in app.screen._compositor.render_strips() for s in strip]
        assert "".join(segments).isascii()


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
