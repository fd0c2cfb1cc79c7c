"""What viewers of ``/monitor`` cost a server: exchanges a second with none, one and ten of them.

    python -m benchmarks.viewers

One server and one client stay up for the whole run; none, one and ten viewers take turns, and the
medians of the ratios count. The viewers are in a process of their
own that reads and throws away.
"""

import argparse
import asyncio
import contextlib
import statistics
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from typing import Any

from websockets.asyncio.client import connect

from benchmarks.exchange import SPAWN, WARM_UP_S, OurServer, our_server
from benchmarks.record import record

VIEWERS = (0, 1, 10)
CLIENTS, ENVS = 1, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()
    with our_server() as server:
        result = measure(server, arguments.rounds, arguments.seconds)
    for viewers in VIEWERS[1:]:
        ratio = result["ratio"][str(viewers)]
        print(f"{viewers:>2} viewers: {ratio:.3f} of the exchanges without any")
    print(record("viewers", result))


def measure(server: OurServer, rounds: int, seconds: float) -> dict[str, Any]:
    rates: dict[int, list[float]] = {viewers: [] for viewers in VIEWERS}
    with server.clients(CLIENTS, ENVS):
        while server.rate_now(ENVS, WARM_UP_S) < 1:
            pass
        for turn in range(rounds):
            # Each comes first in turn, so that none of them has the warmer machine.
            for place in range(len(VIEWERS)):
                viewers = VIEWERS[(turn + place) % len(VIEWERS)]
                with watching(server.port, viewers):
                    rates[viewers].append(server.rate_now(ENVS, seconds))
    return {
        "clients": CLIENTS,
        "envs": ENVS,
        "exchanges_per_s": {str(n): statistics.median(rates[n]) for n in VIEWERS},
        "ratio": {
            str(n): statistics.median(a / b for a, b in zip(rates[n], rates[0], strict=True))
            for n in VIEWERS[1:]
        },
        "samples": {str(n): rates[n] for n in VIEWERS},
    }


@contextlib.contextmanager
def watching(port: int, viewers: int) -> Iterator[None]:
    if not viewers:
        yield
        return
    ready = SPAWN.Event()
    process = SPAWN.Process(target=_watch, args=(port, viewers, ready))
    process.start()
    try:
        assert ready.wait(30)
        yield
    finally:
        process.terminate()
        process.join()


def _watch(port: int, viewers: int, ready: Event) -> None:
    asyncio.run(_watch_all(port, viewers, ready))


async def _watch_all(port: int, viewers: int, ready: Event) -> None:
    url = f"ws://127.0.0.1:{port}/monitor"
    async with contextlib.AsyncExitStack() as stack:
        sockets = [
            await stack.enter_async_context(connect(url, max_size=None, compression=None))
            for _ in range(viewers)
        ]
        ready.set()
        await asyncio.gather(*(_read(socket) for socket in sockets))


async def _read(socket: Any) -> None:
    async for _ in socket:
        pass


if __name__ == "__main__":
    main()
