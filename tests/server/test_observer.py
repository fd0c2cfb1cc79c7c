import asyncio

from plugrl.server.local import LocalWorker
from plugrl.server.observer import LoopObserver
from plugrl.server.worker import Worker
from tests.server.conftest import Scripted
from tests.server.loops import loop_of


class Noted(LoopObserver):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def worker_joined(self, worker: Worker) -> None:
        self.heard.append(f"{worker.id} joined")

    def worker_lost(self, worker: Worker) -> None:
        self.heard.append(f"{worker.id} lost")

    def stopping(self) -> None:
        self.heard.append("stopping")


async def test_a_loop_tells_of_workers_that_come_and_go_and_once_of_the_stop():
    loop = loop_of(Scripted())
    loop.observer = noted = Noted()
    first, _second = LocalWorker(loop), LocalWorker(loop)
    loop.leave(first)
    loop.leave(first)
    loop.request_stop()
    loop.request_stop()
    await asyncio.wait_for(loop.run(), 30)
    assert noted.heard == ["0 joined", "1 joined", "0 lost", "stopping"]
