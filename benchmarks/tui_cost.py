"""What the terminal app costs: first paint, and its share of a core, live and idle.

``python -m benchmarks.tui_cost`` starts the real app in a pseudo-terminal of 140x45. Live, it is
attached to a stand-in for a server, in another process, which sends four snapshots a second of so
many workers as JSON over a WebSocket, in the form and at the pace of a real one. Idle, it shows a
run that has ended from its folder. Bytes are those that the app writes to the terminal.
"""

import argparse
import asyncio
import contextlib
import fcntl
import json
import os
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.record import record as write_result
from plugrl.runs.catalog import register
from plugrl.runs.records import RunRecord, RunState, RunStatus, write_run, write_status
from plugrl_tui.core.feed_demo import TICK_S, DemoServer
from plugrl_tui.core.snapshot import Snapshot

COLUMNS, LINES = 140, 45
WARM_UP_S = 6.0
"""Until the tables are full and the code is warm."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--paints", type=int, default=9, help="first paints to time")
    parser.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stream is not None:
        asyncio.run(stream(arguments.stream))
        return
    result = measure(arguments.seconds, arguments.paints)
    print(json.dumps(result, indent=1))
    print(write_result("tui_cost", result))


def measure(seconds: float, paints: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLUGRL_HOME"] = home
        times = {
            "runs": [first_paint([], b"Filter") for _ in range(paints)],
            "monitor": [first_paint(["--demo"], b"Infer queue") for _ in range(paints)],
        }
        costs = {}
        for workers in (64, 1000):
            with streaming(workers) as url:
                costs[f"live_{workers}_workers"] = cost(["attach", url], seconds)
        costs["idle"] = cost(["attach", str(ended_run(Path(home)))], seconds)
    return {
        "terminal": f"{COLUMNS}x{LINES}",
        "seconds": seconds,
        "first_paint_s": {
            name: {"median": round(statistics.median(t), 3), "best": round(min(t), 3)}
            for name, t in times.items()
        },
        **costs,
    }


@dataclass
class Terminal:
    """The app in a pseudo-terminal."""

    process: subprocess.Popen[bytes]
    master: int

    def read(self, timeout_s: float) -> bytes:
        """What the app has written, or nothing in so long."""
        ready, _, _ = select.select([self.master], [], [], timeout_s)
        return os.read(self.master, 1 << 16) if ready else b""


@contextlib.contextmanager
def app(arguments: list[str]) -> Iterator[Terminal]:
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        [sys.executable, "-m", "plugrl_tui", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def first_paint(arguments: list[str], word: bytes) -> float:
    """Seconds from the start of the process to the first screen that has ``word`` on it."""
    started, seen = time.perf_counter(), b""
    with app(arguments) as terminal:
        while b"\x1b[?1049h" not in seen or word not in seen.partition(b"\x1b[?1049h")[2]:
            data = terminal.read(20.0)
            assert data, f"the app wrote no {word!r} in 20 s"
            seen += data
        return time.perf_counter() - started


def cost(arguments: list[str], seconds: float) -> dict[str, float]:
    """The app's share of one core, and what it writes."""
    with app(arguments) as terminal:
        _drain(terminal, WARM_UP_S)
        process = psutil.Process(terminal.process.pid)
        before, started = process.cpu_times(), time.perf_counter()
        written = _drain(terminal, seconds)
        after, passed = process.cpu_times(), time.perf_counter() - started
        assert terminal.process.poll() is None, "the app has ended"
        used = after.user + after.system - before.user - before.system
        return {
            "core_percent": round(100 * used / passed, 2),
            "bytes_per_second": round(written / passed, 1),
            "memory_mib": round(process.memory_info().rss / 2**20, 1),
        }


def _drain(terminal: Terminal, seconds: float) -> int:
    until, written = time.perf_counter() + seconds, 0
    while (left := until - time.perf_counter()) > 0:
        written += len(terminal.read(left))
    return written


@contextlib.contextmanager
def streaming(workers: int) -> Iterator[str]:
    """The stand-in for a server, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tui_cost", "--stream", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def stream(workers: int) -> None:
    from websockets.asyncio.server import ServerConnection, serve

    server = DemoServer(num_workers=workers, start=time.time())

    async def send(viewer: ServerConnection) -> None:
        while True:
            await viewer.send(json.dumps(as_sent(server.advance(TICK_S))))
            await asyncio.sleep(TICK_S)

    async with serve(send, "127.0.0.1", 0, compression=None) as listener:
        port = next(iter(listener.sockets)).getsockname()[1]
        print(f"ws://127.0.0.1:{port}", flush=True)
        await asyncio.Event().wait()


def as_sent(snapshot: Snapshot) -> dict[str, Any]:
    """In the form that a server sends."""
    queue = _plain(snapshot.queue)
    queue["wait_seconds"], queue["infer_seconds"] = queue.pop("wait"), queue.pop("infer")
    data = _plain(snapshot)
    del data["queue"]
    return {"version": 1, **data, "infer_queue": queue}


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def ended_run(home: Path) -> Path:
    folder = home / "run"
    folder.mkdir()
    record = RunRecord(
        exp_name="ended",
        policy="gaussian-policy",
        policy_variant="default",
        algorithm="ppo",
        algorithm_variant="default",
    )
    write_run(folder, record)
    write_status(folder, RunStatus(state=RunState.DONE, step=10**6, total_steps=10**6))
    lines = [
        json.dumps({"step": step, "time": time, **metrics})
        for step, time, metrics in DemoServer().history()
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    register(folder)
    return folder


if __name__ == "__main__":
    main()
