"""A made-up run, for a first look without training, and for tests: no server, no files."""

import asyncio
import math
import random
from collections.abc import Callable, Iterator

from plugrl_tui.core.feed import FeedError
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import (
    Checkpoint,
    Counters,
    InferQueue,
    Learn,
    LogLine,
    Percentiles,
    Process,
    Run,
    Snapshot,
    Worker,
)

TICK_S = 0.25
_ENVS = 4
_FRAMES_PER_LEARN = 8192
_COLLECT_S, _LEARN_S = 6.0, 3.0
_EPOCHS, _MINIBATCHES = 10, 32
_TOTAL_STEPS = 1_000_000
_LEARNED_BEFORE = 50
"""Learns that have been when one begins to look."""
_SLOW, _LOST, _JOINING = 1, 2, 3
"""The workers that have some trouble."""
_RUN = Run("demo", "gaussian-policy", "default", "ppo", "default", _TOTAL_STEPS)


class DemoServer:
    """What a server would send; the same for one seed and the same times."""

    def __init__(self, *, num_workers: int = 12, seed: int = 0, start: float = 0.0) -> None:
        """Begin in the middle of a run.

        Args:
            num_workers: env clients; the first ones have some trouble now and then.
            seed: of everything that looks like chance.
            start: seconds since 1970 at which one begins to look.
        """
        self._random = random.Random(seed)  # noqa: S311 - nothing here is secret
        self._num_workers = num_workers
        self._start = start
        self._elapsed = 0.0
        self._log: list[LogLine] = []
        self._num_learns = _LEARNED_BEFORE
        self.stopping = False
        self._say("this is a demonstration: nothing is trained")

    def history(self) -> list[tuple[int, float, dict[str, float]]]:
        """Step, time and metrics of the learns before."""
        period = _COLLECT_S + _LEARN_S
        return [
            (n * _FRAMES_PER_LEARN, self._start - (_LEARNED_BEFORE - n) * period, self._metrics(n))
            for n in range(1, _LEARNED_BEFORE + 1)
        ]

    def advance(self, seconds: float) -> Snapshot:
        """Let time pass; returns what the server would send then."""
        self._elapsed += seconds
        return self._now()

    def _now(self) -> Snapshot:
        period = _COLLECT_S + _LEARN_S
        learns, within = divmod(self._elapsed, period)
        learning = within >= _COLLECT_S
        collected = int(_FRAMES_PER_LEARN * min(within / _COLLECT_S, 1.0))
        self._finish_learns(_LEARNED_BEFORE + int(learns))
        kept = int(learns) * _FRAMES_PER_LEARN + collected
        return Snapshot(
            time=self._start + self._elapsed,
            run=_RUN,
            phase="learn" if learning else "collect",
            stopping=self.stopping,
            process=Process(1, "demo", self._elapsed * 1.2, 412 * 2**20),
            counters=self._counters(kept, int(learns)),
            queue=self._queue(kept, learning=learning),
            workers=tuple(self._workers(kept, learning=learning)),
            learn=_learn(within - _COLLECT_S) if learning else None,
            metrics=self._metrics(self._num_learns),
            checkpoints=(Checkpoint("demo", 50 * _FRAMES_PER_LEARN, 131072, 0.04),),
            log_lines=len(self._log),
            log=tuple(self._log[-200:]),
        )

    def _finish_learns(self, num_learns: int) -> None:
        if num_learns != self._num_learns:
            self._num_learns = num_learns
            self._say(f"learn {num_learns} return={self._return(num_learns):.0f}")

    def _counters(self, kept: int, learns: int) -> Counters:
        discarded = {
            "older_policy": self._num_workers * (_LEARNED_BEFORE + learns),
            "buffer_full": 2 * _LEARNED_BEFORE + int(3 * self._elapsed),
            "no_step_state": 31 + learns // 4,
            "bad_observation": 0,
        }
        return Counters(
            global_step=_LEARNED_BEFORE * _FRAMES_PER_LEARN + kept,
            num_learns=self._num_learns,
            frames_kept=kept,
            frames_discarded=sum(discarded.values()),
            discarded=discarded,
            uptime_seconds=self._elapsed,
            steps_per_second=_FRAMES_PER_LEARN / (_COLLECT_S + _LEARN_S),
        )

    def _queue(self, kept: int, *, learning: bool) -> InferQueue:
        most, chance = self._num_workers * _ENVS, self._random
        waiting = self._num_workers if learning else chance.randrange(self._num_workers + 1)
        return InferQueue(
            requests=waiting,
            envs=waiting * _ENVS,
            threshold_requests=self._num_workers,
            oldest_wait_seconds=chance.random() * 0.01,
            batches=kept // most,
            envs_taken=kept,
            missing=tuple(range(waiting, self._num_workers))[:3],
            batch_sizes=tuple(most - _ENVS * (chance.random() < 0.2) for _ in range(64)),
            wait=Percentiles(0.002, 0.0064, 0.019),
            infer=Percentiles(0.0061, 0.0118, 0.040),
        )

    def _workers(self, kept: int, *, learning: bool) -> Iterator[Worker]:
        share = kept // self._num_workers
        for number in range(self._num_workers):
            if number == _LOST and self._elapsed > 8:
                continue
            joins = number == _JOINING and self._elapsed > 10
            yield Worker(
                id=number,
                address=f"10.0.0.{number % 250 + 1}:{50000 + number}",
                state="joined" if joins else "queued" if learning else "stepping",
                state_seconds=0.004,
                envs=_ENVS,
                frames_kept=share,
                discarded={"older_policy": int(self._elapsed) // 9},
                frames_per_second=share / max(self._elapsed, 1e-9),
                step_seconds=0.0312 if number == _SLOW else 0.0072 + number % 7 * 1e-4,
                connected_seconds=self._elapsed,
                episodes=120 + int(self._elapsed) // 3 + number,
                return_mean=self._return(self._num_learns) - 40 + number % 16 * 5,
            )

    def _return(self, learn: int) -> float:
        return 2600 * (1 - math.exp(-learn / 45)) + 120 * math.sin(learn * 1.7)

    def _metrics(self, learn: int) -> dict[str, float]:
        left = math.exp(-learn / 60)
        return {
            "rollout/episode_return_mean": self._return(learn),
            "rollout/episode_length_mean": 950 - 700 * left,
            "rollout/num_episodes": float(learn * 11),
            "train/policy_loss": -0.012 - 0.01 * math.sin(learn),
            "train/value_loss": 0.2 * left + 0.02,
            "train/entropy": 1.2 + 2.8 * left,
            "train/approx_kl": 0.011 + 0.004 * math.cos(learn * 2.1),
            "train/clip_fraction": 0.14 + 0.03 * math.sin(learn * 1.3),
            "train/explained_variance": 0.95 - 0.6 * left,
            "train/learning_rate": 3e-4 * (1 - learn / 123),
            "time/learn_seconds": _LEARN_S,
        }

    def _say(self, text: str) -> None:
        self._log.append(LogLine(self._start + self._elapsed, "INFO", text))


class DemoFeed:
    """Feeds a model from a ``DemoServer``, in real time."""

    def __init__(self, server: DemoServer | None = None, *, speed: float = 1.0) -> None:
        """Feed from ``server``, ``speed`` times as fast as time passes."""
        self._server = server
        self._speed = speed

    async def run(self, model: RunModel) -> None:
        """Feed until cancelled."""
        server = self._server = self._server or DemoServer(start=model.clock())
        begin(model, server)
        while not server.stopping:
            await asyncio.sleep(TICK_S)
            model.take_snapshot(server.advance(TICK_S * self._speed))
        model.set_link(Link.ENDED)

    async def send(self, command: str) -> None:
        """Obey ``stop``.

        Raises:
            FeedError: it is another command.
        """
        if command != "stop" or self._server is None:
            raise FeedError(f"expected a real run to {command}, this is a demonstration")
        self._server.stopping = True

    def retry_now(self) -> None:
        """There is nothing to wait for."""


def begin(model: RunModel, server: DemoServer) -> None:
    """Give ``model`` what the demonstration's run has behind it."""
    for step, time, metrics in server.history():
        model.add_metrics(step, time, metrics)
    model.take_snapshot(server.advance(TICK_S))


def played(seconds: float, *, clock: Callable[[], float], num_workers: int = 12) -> RunModel:
    """A model that has seen so many seconds of a demonstration which began at ``clock``."""
    server = DemoServer(num_workers=num_workers, start=clock())
    model = RunModel("demo", url="ws://127.0.0.1:8000", clock=clock)
    begin(model, server)
    for _ in range(round(seconds / TICK_S)):
        model.take_snapshot(server.advance(TICK_S))
    return model


def _learn(seconds: float) -> Learn:
    epoch, within = divmod(seconds / _LEARN_S * _EPOCHS, 1)
    return Learn(
        epoch=min(int(epoch), _EPOCHS - 1),
        num_epochs=_EPOCHS,
        minibatch=int(within * _MINIBATCHES),
        num_minibatches=_MINIBATCHES,
        seconds=seconds,
    )
