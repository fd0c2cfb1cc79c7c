"""Deadlines: late feedback, silent workers, and the notice that the queue is waiting."""

import asyncio
import logging
import time

from plugrl.protocol.closing import FEEDBACK_TIMEOUT
from plugrl.server.batcher import Batcher
from plugrl.server.loop import Loop
from plugrl.server.worker import SILENT, Worker, WorkerState

logger = logging.getLogger(__name__)

STANDSTILL_S = 1.0
"""Being woken so much too late means that this process, or the machine, stood still."""
NOTICE_S = 5.0
"""Seconds between two notices that the infer queue is waiting."""
_LONELY_PAUSE_MAX_S = 300.0
_NOTICE_NAMES = 8


class Watch:
    """Sleeps until the next deadline; all of them stand still while the model is in use."""

    def __init__(self, loop: Loop, *, feedback_timeout_s: float, patience_s: float) -> None:
        """Watch the workers of ``loop``.

        Args:
            loop: whose workers and queue to watch.
            feedback_timeout_s: seconds in which feedback must follow an action.
            patience_s: seconds after which a silent worker is no longer waited for.
        """
        self._loop = loop
        self._batcher: Batcher = loop.batcher
        self._feedback_timeout_s = feedback_timeout_s
        self._patience_s = patience_s
        self._soonest_s = min(NOTICE_S, patience_s, feedback_timeout_s)
        self._noticed_at = time.monotonic()
        self._lonely_pause_s = NOTICE_S

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            pause_s = self._pause_s()
            woken_at = time.monotonic() + pause_s
            await asyncio.sleep(pause_s)
            if time.monotonic() > woken_at + STANDSTILL_S:
                # What came in the meantime lies unread: nobody is late for that.
                self._loop.idle_since = time.monotonic()
            if self._in_use():
                continue
            self._close_late()
            self._ignore_silent()
            self._notice()

    def _in_use(self) -> bool:
        return self._loop.turn.busy or self._loop.stopping

    def _pause_s(self) -> float:
        if self._in_use():
            # No deadline is nearer, counted from the moment at which the model is put down.
            return self._soonest_s
        return max(self._next_deadline() - time.monotonic(), 0.001)

    def _next_deadline(self) -> float:
        deadlines = [time.monotonic() + self._soonest_s, self._notice_at()]
        for worker in self._batcher.workers.values():
            if worker.state is WorkerState.STEPPING:
                deadlines.append(self._since(worker) + self._feedback_timeout_s)
            elif worker.state in SILENT and self._batcher.num_requests:
                deadlines.append(self._since(worker) + self._patience_s)
        return min(deadlines)

    def _since(self, worker: Worker) -> float:
        # Time in which the model was in use does not count against a worker.
        return max(worker.since, self._loop.idle_since)

    def _close_late(self) -> None:
        deadline = time.monotonic() - self._feedback_timeout_s
        for worker in list(self._batcher.workers.values()):
            if worker.state is WorkerState.STEPPING and self._since(worker) <= deadline:
                logger.warning(
                    "closing %s: no feedback within %g s", worker, self._feedback_timeout_s
                )
                worker.close(FEEDBACK_TIMEOUT)

    def _ignore_silent(self) -> None:
        if not self._batcher.num_requests:
            return
        deadline = time.monotonic() - self._patience_s
        for worker in self._batcher.missing():
            if worker.state in SILENT and self._since(worker) <= deadline:
                worker.enter(WorkerState.IGNORED)
                logger.warning("%s asks for nothing, no longer waiting for it", worker)
                self._loop.wake()

    def _notice_at(self) -> float:
        if self._batcher.workers:
            self._lonely_pause_s = NOTICE_S
            since = self._batcher.waiting_since
            if since is None:
                return float("inf")
            return max(since, self._loop.idle_since, self._noticed_at) + NOTICE_S
        return max(self._loop.idle_since, self._noticed_at) + self._lonely_pause_s

    def _notice(self) -> None:
        now = time.monotonic()
        if self._notice_at() > now:
            return
        self._noticed_at = now
        since = self._batcher.waiting_since
        if since is not None:
            logger.info("Infer queue has been waiting %.0f s, %s", now - since, self._whom())
        else:
            # A server left alone overnight need not fill the disk with this.
            self._lonely_pause_s = min(2 * self._lonely_pause_s, _LONELY_PAUSE_MAX_S)
            logger.info("Infer queue has been waiting, missing: any env client (none is connected)")

    def _whom(self) -> str:
        if self._batcher.min_envs is not None:
            return f"{self._batcher.num_envs} of {self._batcher.min_envs} envs are queued"
        missing = self._batcher.missing()
        names = ", ".join(str(worker) for worker in missing[:_NOTICE_NAMES])
        more = f" and {len(missing) - _NOTICE_NAMES} more" if len(missing) > _NOTICE_NAMES else ""
        return f"missing: {names}{more}"
