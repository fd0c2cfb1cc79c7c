"""MONITOR of runs that are played, with a feed that brings no news."""

import asyncio
import os

from textual.app import App
from textual.pilot import Pilot

from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import RunState, RunStatus
from plugrl_tui.app import PlugRLApp, Start
from plugrl_tui.core.attach import Attached
from plugrl_tui.core.feed import FeedError
from plugrl_tui.core.feed_demo import played
from plugrl_tui.core.model import RunModel
from plugrl_tui.screens.monitor import MonitorScreen
from tests.tui.clock import NOW, Clock

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


def learning() -> RunModel:
    return running(7)
