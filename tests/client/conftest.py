"""Real servers in a thread, well-behaved and hostile, for clients to meet."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import select
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from plugrl.client.run import ClientSummary, run_env_client
from plugrl.config.client import ClientConfig
from plugrl.protocol.closing import FEEDBACK_TIMEOUT, RESYNC, SERVER_STOP
from plugrl.protocol.messages import Array, Feedback, Infer, Metadata
from plugrl.protocol.session import ServerSession
from plugrl.protocol.wire import decode

Handler = Callable[[ServerConnection], Awaitable[None]]


class DeafServer:
    """Says what it has to say and then reads nothing; of one connection."""

    def __init__(self, *frames: bytes) -> None:
        """Send ``frames``, as they are on the wire, right after the handshake."""
        self._frames = frames
        self._socket: Any = None
        self._ready = threading.Event()

    def wait_for_bytes(self) -> None:
        """Return once the client has sent something, which is never read."""
        assert self._ready.wait(20)
        assert select.select([self._socket], [], [], 20)[0]

    def stop_client(self) -> None:
        """Stop the client by a signal once it has sent something; for a client in this process."""
        self.wait_for_bytes()
        os.kill(os.getpid(), signal.SIGTERM)

    async def __call__(self, ws: ServerConnection) -> None:
        ws.transport.pause_reading()
        self._socket = ws.transport.get_extra_info("socket")
        self._ready.set()
        for frame in self._frames:
            ws.transport.write(frame)
        await ws.wait_closed()


class ServerThread:
    """An event loop of its own with one WebSocket server."""

    def __init__(self, handler: Handler, **options: Any) -> None:
        self.connects: list[float] = []
        self.closes: list[tuple[int | None, str | None]] = []
        self._changed = threading.Condition()
        self._handler = handler
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._server: Server | None = None
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,))
        self._thread.start()
        ready.wait()

    def wait_for_closes(self, count: int = 1) -> list[tuple[int | None, str | None]]:
        """(code, reason) of the connections, once ``count`` of them have ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.closes) >= count, timeout=20)
        return self.closes

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, ready: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._start())
            ready.set()
            self._loop.run_forever()
            runner.run(self._end())

    async def _start(self) -> None:
        options = {"compression": None, "ping_interval": None, "close_timeout": 1.0}
        self._server = await serve(self._count, "127.0.0.1", 0, **(options | self._options))
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _count(self, ws: ServerConnection) -> None:
        self.connects.append(time.monotonic())
        with contextlib.suppress(ConnectionClosed):
            await self._handler(ws)
        await ws.close()
        with self._changed:
            self.closes.append((ws.close_code, ws.close_reason))
            self._changed.notify_all()


async def stop(ws: ServerConnection) -> None:
    await ws.close(*SERVER_STOP)


async def resync(ws: ServerConnection) -> None:
    await ws.close(*RESYNC)


async def feedback_timeout(ws: ServerConnection) -> None:
    await ws.close(*FEEDBACK_TIMEOUT)


async def abort(ws: ServerConnection) -> None:
    ws.transport.abort()


ENDINGS = {
    "stop": stop,
    "resync": resync,
    "feedback timeout": feedback_timeout,
    "abort": abort,
}


@dataclasses.dataclass
class PolicyServer:
    """Speaks the protocol, checks its client with our own session, and remembers everything.

    ``endings[i]`` is ``(number of actions, name)``: after so many actions connection i ends that
    way, at the next infer, or with a name in capitals right behind the action.
    """

    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)
    act: Callable[[Infer], Array] = lambda infer: np.zeros(
        (1, len(infer.env_indices), 7), np.float32
    )
    endings: list[tuple[int, str]] = dataclasses.field(default_factory=list)
    infers: list[Infer] = dataclasses.field(default_factory=list)
    """Complete ones: what was reused is filled in."""
    reuses: list[list[bool] | None] = dataclasses.field(default_factory=list)
    """``reuse`` of each infer, as it was sent."""
    feedbacks: list[Feedback] = dataclasses.field(default_factory=list)
    order: list[tuple[int, str]] = dataclasses.field(default_factory=list)
    """(connection, message type) of all that came."""
    keys: list[str | None] = dataclasses.field(default_factory=list)
    thread: Any = None

    @property
    def port(self) -> int:
        port: int = self.thread.port
        return port

    def run(self, env: Any, **fields: Any) -> ClientSummary:
        """Run a client of ``env`` against this server, until both sides are through."""
        summary = run_env_client(env, self.config(**fields))
        self.thread.wait_for_closes(len(self.thread.connects))
        return summary

    def config(self, **fields: Any) -> ClientConfig:
        return ClientConfig(**{"server_port": self.port, "retry_first_s": 0.01} | fields)

    def episodes(self) -> list[tuple[int, float, int, bool]]:
        """(env, return, length, success) of every episode that was reported."""
        found = []
        for feedback in self.feedbacks:
            if "episode" not in feedback.info:
                continue
            e = feedback.info["episode"]
            columns = zip(feedback.env_indices, e["r"], e["l"], e["s"], e["mask"], strict=True)
            found += [(int(i), float(r), int(n), bool(s)) for i, r, n, s, on in columns if on]
        return found

    async def __call__(self, ws: ServerConnection) -> None:
        number = len(self.thread.connects) - 1
        assert ws.request is not None
        self.keys.append(ws.request.headers.get("Authorization"))
        session = ServerSession(Metadata(self.metadata), max_envs=100)
        limit, ending = self.endings[number] if number < len(self.endings) else (None, "stop")
        await ws.send(session.greet())
        for count in itertools.count(1):
            infer = await self._take_infer(ws, session, number)
            if limit is not None and count > limit:
                break
            await ws.send(session.act(self.act(infer)))
            if count == limit and ending.isupper():
                break
            await self._take_feedback(ws, session, number)
        await ENDINGS[ending.lower()](ws)

    async def _take_infer(self, ws: ServerConnection, session: ServerSession, number: int) -> Infer:
        data = await ws.recv(decode=False)
        infer, as_sent = session.receive(data), decode(data)
        assert isinstance(infer, Infer)
        assert isinstance(as_sent, Infer)
        self.order.append((number, "infer"))
        self.infers.append(infer)
        self.reuses.append(None if as_sent.reuse is None else as_sent.reuse.tolist())
        return infer

    async def _take_feedback(
        self, ws: ServerConnection, session: ServerSession, number: int
    ) -> None:
        feedback = session.receive(await ws.recv(decode=False))
        assert isinstance(feedback, Feedback)
        self.order.append((number, "feedback"))
        self.feedbacks.append(feedback)


@pytest.fixture
def serving() -> Iterator[Callable[..., ServerThread]]:
    """Start a server with a handler of one connection."""
    threads: list[ServerThread] = []

    def start(handler: Handler, **options: Any) -> ServerThread:
        threads.append(ServerThread(handler, **options))
        return threads[-1]

    yield start
    for thread in threads:
        thread.stop()


@pytest.fixture
def policy_server(serving: Callable[..., ServerThread]) -> Callable[..., PolicyServer]:
    """Start a server that speaks the protocol."""

    def start(options: dict[str, Any] | None = None, **fields: Any) -> PolicyServer:
        server = PolicyServer(**fields)
        server.thread = serving(server, **(options or {}))
        return server

    return start
