"""The server's loop: infer, collect, learn, save, stop; one thing at a time."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from itertools import count

from plugrl.data.frames import Inference
from plugrl.data.progress import LearnProgress
from plugrl.errors import LearnDivergedError, LearnInterruptedError, PlugRLError
from plugrl.protocol.messages import Feedback, Infer
from plugrl.server.algorithm import LearnerBackend, Saver, ServedAlgorithm
from plugrl.server.batcher import Batcher, Request, concatenate
from plugrl.server.collector import Collector
from plugrl.server.observer import LoopObserver
from plugrl.server.saving import Saving
from plugrl.server.step_states import Held
from plugrl.server.turn import ModelTurn
from plugrl.server.worker import Place, Worker, WorkerState

logger = logging.getLogger(__name__)

_ROLL_BACK_TIMEOUT_S = 10.0
"""How long an interrupted learn may take to reach its next minibatch and roll back."""


class Phase(StrEnum):
    """What the loop is doing."""

    STARTING = "starting"
    COLLECT = "collect"
    LEARN = "learn"
    SAVE = "save"
    STOPPING = "stopping"
    FINISHED = "finished"


class StopReason(StrEnum):
    """Why the loop ended."""

    FINISHED = "finished"
    """The algorithm has all it wanted."""
    STOPPED = "stopped"
    """Somebody asked."""


class Loop:
    """Owns the model: every call of the algorithm is made here, one after another.

    Transports call ``join``, ``infer``, ``feedback`` and ``leave`` on the event loop; none of
    them blocks for longer than an inference that is quick. Feedback is kept in order, and taken in
    at once where nothing else uses the model, else before anything else in the next turn. An
    inference that is quick is made at once, too.
    """

    def __init__(
        self,
        algorithm: ServedAlgorithm,
        batcher: Batcher,
        *,
        learner: LearnerBackend,
        saver: Saver | None,
        report: Callable[[dict[str, float], int], None],
        stop_timeout_s: float,
    ) -> None:
        """Assemble; ``run`` starts.

        Args:
            algorithm: what infers and takes frames.
            batcher: the infer queue.
            learner: what computes a learn.
            saver: what makes checkpoints; None makes none.
            report: takes metrics and the step after each learn; must return at once.
            stop_timeout_s: how long a stop waits for the learn in progress.
        """
        self.algorithm = algorithm
        self.batcher = batcher
        self.collector = Collector(algorithm)
        self.turn = ModelTurn()
        self.saving = Saving(saver, algorithm, self.turn)
        self.phase = Phase.STARTING
        self.progress: LearnProgress | None = None
        """Of the learn that runs now."""
        self.metrics: dict[str, float] = {}
        """Of the latest learn."""
        self.idle_since = time.monotonic()
        """When the model was last put down; workers are not late for what a learn delayed."""
        self.observer = LoopObserver()
        """Told of workers that come and go, and of the stop."""
        self._learner = learner
        self._report = report
        self._stop_timeout_s = stop_timeout_s
        self._inbox: deque[tuple[Worker, Feedback]] = deque()
        self._woken = asyncio.Event()
        self._idle = False
        """Whether ``run`` waits to be woken: nothing uses the model."""
        self._failure: Exception | None = None
        """What the algorithm raised while ``run`` was waiting."""
        self._stop = asyncio.Event()
        self._save_wanted = False
        self._worker_ids = count()
        self._stream_ids = count()

    def new_place(self) -> Place:
        """What a worker needs to join."""
        return Place(next(self._worker_ids), self._stream_ids)

    def join(self, worker: Worker) -> None:
        """Wait for ``worker`` from now on."""
        self.batcher.join(worker)
        self.observer.worker_joined(worker)
        logger.info("%s joined, %d connected", worker, len(self.batcher.workers))

    def leave(self, worker: Worker) -> None:
        """Stop waiting for ``worker``; its envs' step state is gone. Twice is once."""
        if worker.id not in self.batcher.workers:
            return
        self.batcher.leave(worker)
        self._woken.set()
        self.observer.worker_lost(worker)
        logger.info("%s left, %d connected", worker, len(self.batcher.workers))

    def infer(self, worker: Worker, infer: Infer, *, more_came: bool = False) -> None:
        """Queue ``worker``'s request, and answer all where it completes a batch.

        Args:
            worker: who asks.
            infer: what it asks for.
            more_came: whether it has sent something else behind it, before any answer.
        """
        self.batcher.add(worker, infer)
        if not self.batcher.due():
            return
        if not more_came and self._may_infer_here():
            self._infer_here()
        else:
            self._woken.set()

    def feedback(self, worker: Worker, feedback: Feedback) -> None:
        """Take in ``worker``'s report, or queue it while the model is in use."""
        asked_at = worker.since
        worker.enter(WorkerState.BETWEEN)
        worker.stats.step_seconds = worker.since - asked_at
        self._inbox.append((worker, feedback))
        if not self._idle:
            return
        try:
            self._take_in()
            self._look_ahead()
        except Exception as error:  # noqa: BLE001 - ends the run, not the peer that was here by chance
            self._fail(error)

    def _may_infer_here(self) -> bool:
        """Whether nothing else is due and the inference quick: quicker than it is to wake ``run``.

        With a minimum size, who asks at the same time is to share the batch.
        """
        return (
            self._idle
            and not self._woken.is_set()
            and self.turn.is_quick
            and self.batcher.min_envs is None
        )

    def _infer_here(self) -> None:
        try:
            for group, obs in concatenate(self.batcher.take()):
                self._answer(group, self.turn.here(self.algorithm.infer, obs))
            self._look_ahead()
        except Exception as error:  # noqa: BLE001 - ends the run, not the peer that was here by chance
            self._fail(error)

    def _look_ahead(self) -> None:
        """Wake ``run`` where the algorithm wants something other than to infer."""
        if self.algorithm.should_learn() or self.algorithm.should_stop():
            self._woken.set()

    def _fail(self, error: Exception) -> None:
        """End ``run`` with ``error``; until it wakes, nothing more is asked of the algorithm."""
        self._failure = error
        self._idle = False
        self._woken.set()

    def _take_in(self) -> None:
        while self._inbox:
            self.collector.feedback(*self._inbox.popleft())

    def wake(self) -> None:
        """Look again at whether a batch is due."""
        self._woken.set()

    def request_save(self) -> None:
        """Save a checkpoint as soon as the model is free."""
        self._save_wanted = True
        self._woken.set()

    def request_stop(self) -> None:
        """End ``run`` after what is in progress."""
        if not self._stop.is_set():
            self.observer.stopping()
        self._stop.set()
        self._woken.set()

    @property
    def ended(self) -> bool:
        """Whether the run is over, so that nobody need come back."""
        return self.phase in {Phase.STOPPING, Phase.FINISHED}

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop.is_set()

    async def run(self) -> StopReason:
        """Train until the algorithm is satisfied or a stop is asked for, then save.

        Raises:
            Exception: whatever the algorithm raised; nothing is saved then.
        """
        try:
            reason = await self._train()
            self.phase = Phase.STOPPING
            await self.saving.save_finally()
            self.observer.concluded(reason)
            self.phase = Phase.FINISHED
            return reason
        finally:
            self.turn.close()

    async def _train(self) -> StopReason:
        while not self._stop.is_set() and self._failure is None:
            self._take_in()
            if self.algorithm.should_learn():
                await self._learn()
            elif self.algorithm.should_stop():
                return StopReason.FINISHED
            elif self._save_wanted:
                self._save_wanted = False
                await self._save()
            elif self.batcher.due():
                await self._infer(self.batcher.take())
            else:
                self.phase = Phase.COLLECT
                await self._wait()
        if self._failure is not None:
            raise self._failure
        return StopReason.STOPPED

    async def _wait(self) -> None:
        self._idle = True
        try:
            await self._woken.wait()
        finally:
            self._idle = False
        self._woken.clear()

    async def _infer(self, requests: list[Request]) -> None:
        self.phase = Phase.COLLECT
        for group, obs in concatenate(requests):
            self._answer(group, await self.turn.brief(self.algorithm.infer, obs))

    def _answer(self, group: list[Request], inference: Inference) -> None:
        first = 0
        for request in group:
            last = first + len(request.infer.env_indices)
            rows = inference if len(group) == 1 else inference.rows(slice(first, last))
            self._hand_out(request, rows)
            first = last
        self.idle_since = time.monotonic()

    def _hand_out(self, request: Request, inference: Inference) -> None:
        worker, envs = request.worker, request.infer.env_indices
        held = Held(self.algorithm.num_learns, request.infer.obs, inference, num_open=len(envs))
        worker.step_states.hold(envs, held)
        worker.enter(WorkerState.STEPPING)
        worker.send(inference.actions.swapaxes(0, 1))

    async def _save(self) -> None:
        self.phase = Phase.SAVE
        await self.saving.save()

    async def _learn(self) -> None:
        self.phase = Phase.LEARN
        progress = self.progress = LearnProgress()
        started, step = time.monotonic(), self.algorithm.global_step
        learn = asyncio.ensure_future(self.turn.long(self._learner.learn, progress))
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({learn, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not learn.done():
            await self._interrupt(learn, progress)
        self.progress = None
        self.idle_since = time.monotonic()
        try:
            metrics = learn.result()
        except LearnInterruptedError as error:
            lost = step - self.algorithm.global_step
            logger.warning("the learn was rolled back (%s), its %d frames are dropped", error, lost)
            return
        except LearnDivergedError as error:
            raise LearnDivergedError(f"{error}; {self.saving.latest()}") from error
        metrics["time/learn_seconds"] = self.idle_since - started
        self._publish(metrics)
        if self.algorithm.should_save():
            await self._save()

    async def _interrupt(self, learn: "asyncio.Future[None]", progress: LearnProgress) -> None:
        logger.info("waiting at most %g s for the learn in progress", self._stop_timeout_s)
        await asyncio.wait({learn}, timeout=self._stop_timeout_s)
        if learn.done():
            return
        progress.interrupt()
        await asyncio.wait({learn}, timeout=_ROLL_BACK_TIMEOUT_S)
        if not learn.done():
            raise PlugRLError(
                f"expected the learn to stop within {self._stop_timeout_s:g} s and then "
                f"{_ROLL_BACK_TIMEOUT_S:g} s, it goes on; nothing was saved"
            )

    def _publish(self, metrics: dict[str, float]) -> None:
        metrics["server/discarded_frames"] = float(self.collector.discarded.total())
        metrics["server/num_workers"] = float(len(self.batcher.workers))
        self.metrics = metrics
        self._report(metrics, self.algorithm.global_step)
