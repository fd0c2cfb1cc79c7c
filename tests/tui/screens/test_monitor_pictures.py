"""MONITOR in every state and at every size, as a person sees it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from textual.app import App
from textual.pilot import Pilot

from plugrl.runs.records import RunRecord, RunState
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import LogLine
from tests.tui.clock import NOW, Clock
from tests.tui.pictures import SIZES, assert_looks_like
from tests.tui.screens.monitors import STATUS, learning, monitor, running, settled

pytestmark = pytest.mark.usefixtures("own_home")


def from_files(**changes: object) -> RunModel:
    """A run that is known from its folder alone."""
    model, source = RunModel("hopper-s3", clock=Clock()), running()
    model.curves, model.curves_from_files = source.curves, True
    model.folder = "/runs/hopper-s3"
    model.status = replace(STATUS, **changes)  # type: ignore[arg-type]
    model.add_log([LogLine(NOW, "ERROR", "the learn diverged: loss is NaN")])
    return model


def waiting() -> RunModel:
    model = running()
    assert model.snapshot is not None
    model.workers.forget()
    model.take_snapshot(model.snapshot._replace(workers=(), learn=None))
    return model


def awaiting_its_own() -> RunModel:
    model = waiting()
    clients = {"num_procs": 2, "num_envs": 4}
    model.record = RunRecord(
        exp_name="hopper-s3",
        policy="gaussian-policy",
        policy_variant="default",
        algorithm="ppo",
        algorithm_variant="default",
        config={"clients": clients},
    )
    return model


def starting_again() -> RunModel:
    """A server that was seen is gone; its supervisor starts another."""
    model = running()
    model.set_link(Link.NONE)
    model.status = replace(
        STATUS,
        state=RunState.STARTING,
        reason="the server was ended by SIGKILL; attempt 2 is starting",
    )
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
    "awaiting_its_own": awaiting_its_own,
    "starting_again": starting_again,
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


@pytest.mark.many_examples
@pytest.mark.parametrize("name", STATES)
async def test_every_state_has_its_sign_its_word_and_its_reason(name):
    app = monitor(STATES[name]())
    async with app.run_test(size=SIZES[0]) as pilot:
        await at_every_size(app, pilot, name)


@pytest.mark.many_examples
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
