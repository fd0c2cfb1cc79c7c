"""Stopping: what is said, who is asked, and force only on what is really the run."""

import os
import signal
import subprocess
import sys

import pytest

from plugrl.runs.liveness import started_at, this_host
from plugrl.runs.records import RunState, RunStatus
from plugrl_tui.core import stopping
from plugrl_tui.core.feed import FeedError
from plugrl_tui.core.feed_demo import DemoFeed, played
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import Learn
from plugrl_tui.core.stages import Progress


@pytest.fixture
def process():
    """A process that stands for a run's."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        yield child
        child.kill()


def model_of(pid: int, started: float | None, *, host: str = "") -> RunModel:
    model = RunModel("hopper")
    model.status = RunStatus(
        state=RunState.RUNNING,
        pid=pid,
        pid_started=started,
        server_pid=pid,
        server_pid_started=started,
        host=host or this_host(),
    )
    return model


async def test_without_a_server_the_run_s_process_is_asked_by_a_signal(process):
    model = model_of(process.pid, started_at(process.pid))
    said = await stopping.ask(model, DemoFeed())
    assert str(process.pid) in said
    assert process.wait(20) == -signal.SIGTERM


async def test_a_live_run_is_asked_over_its_server():
    asked = []

    class Feed(DemoFeed):
        async def send(self, command: str) -> None:
            asked.append(command)

    said = await stopping.ask(played(1, clock=lambda: 0.0), Feed())
    assert asked == ["stop"]
    assert said == "asked the server at ws://127.0.0.1:8000"


async def test_where_nobody_can_be_asked_that_is_said():
    with pytest.raises(FeedError, match="there is neither"):
        await stopping.ask(RunModel("gone"), DemoFeed())


def test_force_kills_the_run_s_process(process):
    model = model_of(process.pid, started_at(process.pid))
    assert stopping.can_force(model)
    assert str(process.pid) in stopping.force(model)
    assert process.wait(20) == -signal.SIGKILL


@pytest.mark.parametrize("what", ["another start", "another machine"])
def test_a_process_that_is_not_the_run_s_is_left_alone(process, what):
    started = started_at(process.pid)
    assert started is not None
    if what == "another start":
        model = model_of(process.pid, started - 3600)
    else:
        model = model_of(process.pid, started, host="elsewhere")
    assert not stopping.can_force(model)
    with pytest.raises(FeedError, match="there are none"):
        stopping.force(model)
    os.kill(process.pid, 0)


def progress(model: RunModel) -> list[Progress]:
    return [stage.progress for stage in stopping.stages(model)]


def test_the_stages_follow_the_server():
    model = played(1, clock=lambda: 0.0)
    assert model.snapshot is not None
    learning = model.snapshot._replace(stopping=True, learn=Learn(2, 10, 4, 32, 0.5))
    model.take_snapshot(learning)
    assert progress(model) == [Progress.NOW, Progress.AHEAD, Progress.AHEAD]
    assert "epoch 3/10, minibatch 5/32" in stopping.stages(model)[0].text
    model.take_snapshot(learning._replace(learn=None, phase="stopping"))
    assert progress(model) == [Progress.DONE, Progress.NOW, Progress.AHEAD]
    model.take_snapshot(learning._replace(learn=None, phase="finished"))
    assert progress(model) == [Progress.DONE, Progress.DONE, Progress.NOW]
    model.set_link(Link.ENDED)
    assert progress(model) == [Progress.DONE] * 3


def test_what_will_happen_is_said_exactly():
    model = played(1, clock=lambda: 0.0)
    text = "\n".join(stopping.announcement(model))
    assert "dropped" in text
    assert "12 env clients" in text
    assert model.snapshot is not None
    model.take_snapshot(model.snapshot._replace(learn=Learn(0, 1, 0, 1, 0.0), workers=()))
    text = "\n".join(stopping.announcement(model))
    assert "learn in progress" in text
    assert "env client" not in text
