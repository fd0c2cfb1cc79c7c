"""Exchanges a second of the dummy pair beside a bare websockets ping-pong.

    python -m benchmarks.exchange

An exchange is infer -> action -> feedback. The bare pair sends messages of the very sizes that
ours sends, and does nothing with them. Both servers stay up for the whole run; each cell is
measured in turns (bare, ours, bare, ours, ...) with fresh client processes, and medians count.
"""

import argparse
import asyncio
import contextlib
import ctypes
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from itertools import product
from multiprocessing.sharedctypes import Synchronized
from typing import Any, NamedTuple

import numpy as np
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from benchmarks.record import record
from plugrl.protocol.messages import Feedback, Metadata, Observation
from plugrl.protocol.session import ClientSession, ServerSession

STATE_DIM, ACTION_DIM = 17, 7
CLIENTS, ENVS = (1, 2, 4, 8), (1, 8, 64)
WARM_UP_S = 1.0
SPAWN = multiprocessing.get_context("spawn")


class Sizes(NamedTuple):
    """Bytes of the three messages of an exchange."""

    infer: int
    action: int
    feedback: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    args = parser.parse_args()
    with bare_server() as bare, our_server() as ours:
        cells = [
            measure_cell(bare, ours, clients, envs, args.rounds, args.seconds)
            for clients, envs in product(CLIENTS, ENVS)
        ]
        idle, waking = idle_cpu(ours)
    print(f"idle with 8 connected clients: {idle:.3f} % of a core, bare waking {waking:.3f} %")
    result = {"cells": cells, "idle_cpu_percent": idle, "waking_cpu_percent": waking}
    print("written to", record("exchange", result))


def measure_cell(
    bare: "BareServer", ours: "OurServer", clients: int, envs: int, rounds: int, seconds: float
) -> dict[str, Any]:
    sizes = message_sizes(envs)
    rates: dict[str, list[float]] = {"bare": [], "plugrl": []}
    for _ in range(rounds):
        rates["bare"].append(bare.rate(clients, sizes, seconds))
        rates["plugrl"].append(ours.rate(clients, envs, seconds))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    cell = {
        "clients": clients,
        "envs": envs,
        "bytes": sizes._asdict(),
        "bare_exchanges_per_s": medians["bare"],
        "plugrl_exchanges_per_s": medians["plugrl"],
        "plugrl_env_steps_per_s": medians["plugrl"] * envs,
        "ratio": statistics.median(
            p / b for p, b in zip(rates["plugrl"], rates["bare"], strict=True)
        ),
        "samples": rates,
    }
    print(
        f"{clients} clients x {envs:2} envs: bare {medians['bare']:8.0f}/s  "
        f"plugrl {medians['plugrl']:8.0f}/s  ratio {cell['ratio']:.2f}  "
        f"{cell['plugrl_env_steps_per_s']:9.0f} env steps/s",
        flush=True,
    )
    return cell


def message_sizes(envs: int) -> Sizes:
    """What the dummy pair sends in its second exchange, when observations are reused."""
    client, server = ClientSession(), ServerSession(_metadata(), max_envs=1000)
    client.receive(server.greet())
    index = np.arange(envs)
    obs = Observation({}, {"state": np.zeros((envs, STATE_DIM))}, np.array([""] * envs))
    sizes = Sizes(0, 0, 0)
    for _ in range(2):
        infer = client.infer(obs, index, index, unchanged=np.ones(envs, bool))
        server.receive(infer)
        action = server.act(np.zeros((1, envs, ACTION_DIM), np.float32))
        client.receive(action)
        off = np.zeros(envs, bool)
        feedback = client.feedback(Feedback(index, index, obs, np.ones(envs, np.float32), off, off))
        server.receive(feedback)
        sizes = Sizes(len(infer), len(action), len(feedback))
    return sizes


def _metadata() -> Metadata:
    return Metadata({"features": ["reuse-feedback-obs"]})


class BareServer:
    """Two messages in, one out; nothing else."""

    def __init__(self, port: int, counter: "Synchronized[int]") -> None:
        self._url = f"ws://127.0.0.1:{port}"
        self._counter = counter

    def rate(self, clients: int, sizes: Sizes, seconds: float) -> float:
        args = (self._url, sizes)
        peers = [SPAWN.Process(target=_bare_client, args=args) for _ in range(clients)]
        for peer in peers:
            peer.start()
        try:
            return _rate(lambda: float(self._counter.value), clients, seconds)
        finally:
            for peer in peers:
                peer.terminate()
                peer.join()


class OurServer:
    """The command, as a user starts it."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process = process
        self.port = port

    def rate(self, clients: int, envs: int, seconds: float) -> float:
        with self.clients(clients, envs):
            return _rate(lambda: self._frames() / envs, clients, seconds)

    def rate_now(self, envs: int, seconds: float) -> float:
        """With the clients that are there."""
        return _steady_rate(lambda: self._frames() / envs, seconds)

    @contextlib.contextmanager
    def clients(self, clients: int, envs: int) -> Iterator[None]:
        command = [sys.executable, "-m", "plugrl.cli.run_env_client", "dummy-v1"]
        command += ["--server-port", str(self.port), "--log-level", "error"]
        command += ["--num-procs", str(clients), "--num-envs", str(envs)]
        command += ["--env.num-images", "0", "--env.text", ""]
        peer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            peer.terminate()
            peer.wait()

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
            text: str = reply.read().decode()
        return text

    def _frames(self) -> float:
        found = re.findall(r"^plugrl_frames_\w+_total\S* (\S+)$", self.metrics(), re.MULTILINE)
        return sum(float(number) for number in found)


def _rate(count: Any, clients: int, seconds: float) -> float:
    """Counts a second, from when counting has begun and the pace is warm."""
    first = count()
    deadline = time.monotonic() + 60
    while count() < first + 50 * clients and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(WARM_UP_S)
    return _steady_rate(count, seconds)


def _steady_rate(count: Any, seconds: float) -> float:
    began, before = time.perf_counter(), count()
    time.sleep(seconds)
    after, ended = count(), time.perf_counter()
    return float((after - before) / (ended - began))


@contextlib.contextmanager
def our_server() -> Iterator[OurServer]:
    command = [sys.executable, "-m", "plugrl.cli.run_server"]
    command += [
        "dummy-policy",
        "default",
        "dummy",
        "default",
        "--port",
        "0",
        "--exp-name",
        "exchange",
    ]
    command += ["--algo.global-steps", str(10**12), "--algo.save-interval", str(10**9)]
    command += ["--overwrite", "--checkpoint-base-dir", "/tmp/plugrl-exchange-benchmark"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            if found := re.search(r"listening on ws://127.0.0.1:(\d+)", line):
                port = int(found.group(1))
                break
        threading.Thread(target=process.stderr.read, daemon=True).start()
        try:
            yield OurServer(process, port)
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def bare_server() -> Iterator[BareServer]:
    counter = SPAWN.Value("q", 0)
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_serve_bare, args=(counter, sender))
    process.start()
    try:
        yield BareServer(receiver.recv(), counter)
    finally:
        process.terminate()
        process.join()


def _serve_bare(counter: "Synchronized[int]", port: Any) -> None:
    async def handle(socket: ServerConnection) -> None:
        first = await socket.recv()
        assert isinstance(first, bytes)
        action = bytes(int.from_bytes(first, "big"))
        with contextlib.suppress(Exception):
            while True:
                await socket.recv()
                await socket.send(action)
                await socket.recv()
                counter.value += 1

    async def run() -> None:
        async with serve(
            handle, "127.0.0.1", 0, compression=None, ping_interval=None, max_size=None
        ) as server:
            port.send(next(iter(server.sockets)).getsockname()[1])
            await asyncio.Future()

    asyncio.run(run())


def _bare_client(url: str, sizes: Sizes) -> None:
    async def run() -> None:
        infer, feedback = bytes(sizes.infer), bytes(sizes.feedback)
        async with connect(url, compression=None, ping_interval=None, max_size=None) as socket:
            await socket.send(sizes.action.to_bytes(4, "big"))
            while True:
                await socket.send(infer)
                await socket.recv()
                await socket.send(feedback)

    with contextlib.suppress(Exception):
        asyncio.run(run())


def idle_cpu(ours: OurServer, seconds: float = 20.0) -> tuple[float, float]:
    """Percent of a core that the server uses with 8 connected clients that ask for nothing.

    And what a Python process uses meanwhile that does no more than wake once a second: on some
    virtual machines to wake is most of the cost.
    """

    async def run() -> tuple[float, float]:
        url = f"ws://127.0.0.1:{ours.port}"
        sockets = [await connect(url, compression=None, ping_interval=None) for _ in range(8)]
        clocks = [cpu_clock(ours.process.pid), cpu_clock(waking.pid)]
        await asyncio.sleep(1)
        before = [time.clock_gettime(clock) for clock in clocks]
        await asyncio.sleep(seconds)
        after = [time.clock_gettime(clock) for clock in clocks]
        for socket in sockets:
            await socket.close()
        used = [100 * (b - a) / seconds for a, b in zip(before, after, strict=True)]
        return used[0], used[1]

    wake = "import threading\nwhile True: threading.Event().wait(1)"
    with subprocess.Popen([sys.executable, "-c", wake]) as waking:
        try:
            return asyncio.run(run())
        finally:
            waking.terminate()


def cpu_clock(pid: int) -> int:
    """Id of the clock of a process's CPU time: all its threads, in ns (/proc counts ticks)."""
    clock = ctypes.c_int()
    error = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if error:
        raise OSError(error, os.strerror(error), f"process {pid}")
    return clock.value


if __name__ == "__main__":
    main()
