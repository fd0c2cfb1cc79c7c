"""Fuzzed frames against a live server, while a good client trains on it undisturbed."""

import asyncio
import contextlib
import itertools
import json
import random
import signal
from collections.abc import AsyncIterator, Iterator

import numpy as np
import psutil
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from plugrl.protocol import wire
from plugrl.protocol.messages import Infer
from tests.fuzz.frames import mutated_frames, observe
from tests.integration.conftest import Program, Start, serve

pytestmark = [pytest.mark.integration, pytest.mark.fuzz]

NUM_HOSTILE = 8
"""Connections that are hostile at once."""
FLAT_BYTES = 16 * 2**20
"""How much a server's memory may move, whatever comes."""


@pytest.mark.timeout(120)
async def test_a_thousand_fuzzed_frames_disturb_nobody(start):
    await _attack(start, num_frames=1_000)


@pytest.mark.slow
@pytest.mark.timeout(3000)
async def test_a_hundred_thousand_fuzzed_frames_disturb_nobody(start):
    await _attack(start, num_frames=100_000)


async def _attack(start: Start, *, num_frames: int) -> None:
    server, port = serve(
        start,
        *("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum"),
        *("--algo.global-steps", "1e9", "--mini-infer-batch-size", "1"),
    )
    good = start("run-env-client", "pendulum", "--server-port", port)
    url = f"ws://127.0.0.1:{port}"
    await _next_learn(url)
    await _send_all(url, mutated_frames(num_frames // 5, seed=1))
    before = psutil.Process(server.process.pid).memory_info().rss
    await _send_all(url, mutated_frames(num_frames - num_frames // 5, seed=2))
    after = psutil.Process(server.process.pid).memory_info().rss
    assert after - before < FLAT_BYTES
    await _next_learn(url)
    _end_well(server, good)


def _end_well(server: Program, good: Program) -> None:
    server.process.send_signal(signal.SIGINT)
    code, output = server.finish()
    assert code == 0, output[-5000:]
    assert "Traceback" not in output
    code, output = good.finish()
    assert code == 0
    assert "connecting again" not in output


async def _next_learn(url: str) -> None:
    """Wait until the server has learned once more."""
    async with connect(f"{url}/monitor", compression=None) as monitor:
        first = json.loads(await monitor.recv())["counters"]["num_learns"]
        async for snapshot in monitor:
            if json.loads(snapshot)["counters"]["num_learns"] > first:
                return


async def _send_all(url: str, frames: Iterator[bytes]) -> None:
    async with asyncio.TaskGroup() as hostile:
        for number in range(NUM_HOSTILE):
            hostile.create_task(_send(url, frames, random.Random(number)))


async def _send(url: str, frames: Iterator[bytes], rng: random.Random) -> None:
    """Send frames that others have not sent, over one connection after another."""
    for frame in frames:
        with contextlib.suppress(ConnectionClosed):
            async with _hostile(url, rng) as socket:
                for next_frame in itertools.chain([frame], frames):
                    await socket.send(next_frame)
                    # The pong comes once the server has taken the frame, unless it has closed.
                    await (await socket.ping())


@contextlib.asynccontextmanager
async def _hostile(url: str, rng: random.Random) -> AsyncIterator[ClientConnection]:
    """A connection on which an infer is due, or a feedback."""
    async with connect(url, compression=None) as socket:
        await socket.recv()
        if rng.random() < 0.5:
            await socket.send(wire.encode(Infer(observe(2), np.arange(2), np.zeros(2, np.int64))))
            await socket.recv()
        yield socket
