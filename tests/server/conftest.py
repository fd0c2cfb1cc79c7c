"""A real server in the test's event loop, and a bare client that speaks the wire by hand."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect

from plugrl.algorithms.dummy import Dummy
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.config.server import ServerConfig
from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.errors import InvalidMessageError
from plugrl.policies.dummy import DummyPolicy
from plugrl.protocol.messages import Action, Feedback, Metadata, Observation
from plugrl.protocol.session import ClientSession
from plugrl.server.algorithm import Saver, ServedAlgorithm
from plugrl.server.server import Server


def observe(n: int, width: int = 3, value: float = 0.0) -> Observation:
    return Observation({}, {"state": np.full((n, width), value)}, np.array([""] * n))


def feedback_for(
    envs: list[int], *, reward: float = 1.0, done: bool = False, **info: Any
) -> Feedback:
    m = len(envs)
    return Feedback(
        np.array(envs),
        np.zeros(m, np.int64),
        observe(m),
        np.full(m, reward, np.float32),
        np.full(m, done),
        np.zeros(m, bool),
        info,
    )


class Scripted(Dummy):
    """A dummy algorithm that remembers what it was told, and fails when told to."""

    def __init__(self, **config: Any) -> None:
        config = {"fake_learn_freq": 10**9, **config}
        policy = DummyPolicy(DummyPolicyConfig(action_dim=config.pop("action_dim", 2)))
        super().__init__(DummyConfig(**config), policy)
        self.taken: list[Frames] = []
        self.dropped: list[dict[str, Any]] = []
        self.infer_sizes: list[int] = []
        self.infer_error: Exception | None = None
        self.learn_hook: Callable[[LearnProgress], None] = lambda progress: None

    def check_observation(self, obs: Observation) -> None:
        for name, state in obs.states.items():
            if not np.isfinite(state).all():
                raise InvalidMessageError(f"expected finite numbers, at $.data.states.{name}")

    def infer(self, obs: Observation) -> Inference:
        if self.infer_error is not None:
            raise self.infer_error
        self.infer_sizes.append(len(obs))
        return super().infer(obs)

    def feedback(self, frames: Frames) -> int:
        stored = super().feedback(frames)
        self.taken.append(frames.rows(slice(0, stored)))
        return stored

    def discard_feedback(self, **discarded: Any) -> None:
        self.dropped.append(discarded)
        super().discard_feedback(**discarded)

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        self.learn_hook(progress)
        return super().learn(progress)


def hold_learns(algorithm: Scripted) -> tuple[threading.Event, threading.Event]:
    """Hold every learn: the first event says that one has begun, the second lets it go on."""
    learning, go_on = threading.Event(), threading.Event()

    def hold(progress: LearnProgress) -> None:
        learning.set()
        assert go_on.wait(10)

    algorithm.learn_hook = hold
    return learning, go_on


@dataclass
class InProcess:
    """A learner backend that rolls nothing back: the dummy has nothing to roll."""

    algorithm: ServedAlgorithm

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        return self.algorithm.learn(progress)


@dataclass
class Running:
    """A server that is up, and what it reported."""

    server: Server
    url: str
    task: "asyncio.Task[Any]"
    reports: list[tuple[dict[str, float], int]] = field(default_factory=list)


class Client:
    """The wire by hand: one session over one socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.session = ClientSession()

    async def greet(self) -> Metadata:
        metadata = self.session.receive(await self.socket.recv())
        assert isinstance(metadata, Metadata)
        return metadata

    async def infer(self, envs: list[int], obs: Observation | None = None) -> None:
        obs = obs if obs is not None else observe(len(envs))
        await self.socket.send(
            self.session.infer(obs, np.array(envs), np.zeros(len(envs), np.int64))
        )

    async def action(self) -> Action:
        action = self.session.receive(await self.socket.recv())
        assert isinstance(action, Action)
        return action

    async def feedback(self, feedback: Feedback) -> None:
        await self.socket.send(self.session.feedback(feedback))

    async def exchange(self, envs: list[int], **options: Any) -> None:
        await self.infer(envs)
        await self.action()
        await self.feedback(feedback_for(envs, **options))

    async def closing(self) -> tuple[int | None, str | None]:
        await asyncio.wait_for(self.socket.wait_closed(), 5)
        return self.socket.close_code, self.socket.close_reason


@contextlib.asynccontextmanager
async def running(
    algorithm: ServedAlgorithm, *, saver: Saver | None = None, **config: Any
) -> AsyncIterator[Running]:
    """Run a server until the block ends."""
    reports: list[tuple[dict[str, float], int]] = []
    server = Server(
        algorithm,
        ServerConfig(**{"port": 0, **config}),
        learner=InProcess(algorithm),
        saver=saver,
        report=lambda metrics, step: reports.append((metrics, step)),
    )
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(server.run(handle_signals=False, on_listening=listening.set_result))
    both: set[asyncio.Future[Any]] = {task, listening}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield Running(server, listening.result(), task, reports)
    finally:
        server.request_stop()
        await asyncio.wait({task}, timeout=10)
        assert task.done()
        # Whoever expects a failure has taken it; an unexpected one must not pass unseen.
        if not task.cancelled() and task.exception() is not None:
            assert getattr(algorithm, "infer_error", None) is not None


@contextlib.asynccontextmanager
async def client(url: str, **options: Any) -> AsyncIterator[Client]:
    """A greeted client."""
    async with connect(url, compression=None, max_size=None, **options) as socket:
        peer = Client(socket)
        await peer.greet()
        yield peer


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop run until ``condition`` holds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for offers no event
            await asyncio.sleep(0.002)


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()
