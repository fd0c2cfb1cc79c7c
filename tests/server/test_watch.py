"""The notices of a waiting queue, with a clock that the test turns."""

import asyncio
import logging

import pytest

from plugrl.server import watch
from plugrl.server.local import LocalWorker
from plugrl.server.loop import Loop
from plugrl.server.watch import Watch
from plugrl.server.worker import WorkerState
from tests.server.conftest import Scripted
from tests.server.loops import infer_for, loop_of


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    for module in ("watch", "worker", "loop"):
        monkeypatch.setattr(f"plugrl.server.{module}.time", clock)
    return clock


def _watch(loop: Loop) -> Watch:
    return Watch(loop, feedback_timeout_s=60.0, patience_s=10.0)


async def test_a_waiting_queue_is_noticed_every_5_seconds_with_who_is_missing(clock, caplog):
    caplog.set_level(logging.INFO)
    loop = loop_of(Scripted())
    asking, missing = LocalWorker(loop, "asking"), LocalWorker(loop, "missing")
    loop.infer(asking, infer_for([0]))
    watching = _watch(loop)
    heard = []
    for _ in range(12):
        clock.now += 1
        caplog.clear()
        watching._notice()
        heard.append("Infer queue has been waiting" in caplog.text)
        assert not heard[-1] or str(missing) in caplog.text
    assert [i + 1 for i, noticed in enumerate(heard) if noticed] == [5, 10]


async def test_with_a_minimum_the_notice_counts_envs(clock, caplog):
    caplog.set_level(logging.INFO)
    loop = loop_of(Scripted(), min_envs=8)
    loop.infer(LocalWorker(loop), infer_for([0, 1]))
    clock.now += 6
    _watch(loop)._noticed_at = 0
    watching = _watch(loop)
    clock.now += 6
    watching._notice()
    assert "2 of 8 envs are queued" in caplog.text


async def test_a_server_left_alone_says_so_less_and_less_often(clock, caplog):
    caplog.set_level(logging.INFO)
    watching = _watch(loop_of(Scripted()))
    for _ in range(3600):
        clock.now += 1
        watching._notice()
    assert 5 < caplog.text.count("none is connected") < 25


async def test_silence_during_a_learn_does_not_count(clock):
    loop = loop_of(Scripted())
    asking, silent = LocalWorker(loop), LocalWorker(loop)
    loop.infer(asking, infer_for([0]))
    watching = _watch(loop)
    clock.now += 100
    loop.idle_since = clock.now
    watching._ignore_silent()
    assert silent in loop.batcher.missing()
    clock.now += 10
    watching._ignore_silent()
    assert silent not in loop.batcher.missing()


async def test_nobody_is_ignored_while_nobody_waits(clock):
    loop = loop_of(Scripted())
    silent = LocalWorker(loop)
    watching = _watch(loop)
    clock.now += 1000
    watching._ignore_silent()
    assert silent.state is WorkerState.JOINED


async def test_it_sleeps_until_the_next_deadline_and_no_longer_than_a_notice(clock):
    loop = loop_of(Scripted())
    worker = LocalWorker(loop)
    watching = _watch(loop)
    assert watching._next_deadline() == clock.now + watch.NOTICE_S
    worker.enter(WorkerState.STEPPING)
    clock.now += 58
    assert watching._next_deadline() == clock.now + 2


async def test_it_can_be_cancelled():
    task = asyncio.create_task(_watch(loop_of(Scripted())).run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_does_not_poll_while_the_model_is_in_use(clock):
    loop = loop_of(Scripted())
    loop.infer(LocalWorker(loop), infer_for([0]))
    watching = _watch(loop)
    clock.now += 3600
    assert watching._pause_s() < 0.01
    loop.turn.busy = True
    assert watching._pause_s() == watch.NOTICE_S


async def test_nobody_is_late_for_the_time_in_which_the_server_stood_still(clock, monkeypatch):
    loop = loop_of(Scripted())
    worker = LocalWorker(loop)
    worker.enter(WorkerState.STEPPING)

    async def stood_still(pause_s: float) -> None:
        if clock.now > 1000:
            raise asyncio.CancelledError
        clock.now += 3600

    monkeypatch.setattr(asyncio, "sleep", stood_still)
    with pytest.raises(asyncio.CancelledError):
        await _watch(loop).run()
    assert worker.id in loop.batcher.workers
