"""When checkpoints are written: the copy in the model's turn, the write beside training."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from plugrl.errors import CheckpointError
from plugrl.server.algorithm import SavedCheckpoint, Saver, ServedAlgorithm
from plugrl.server.turn import ModelTurn

logger = logging.getLogger(__name__)

MAX_SHOWN_CHECKPOINTS = 20
"""Checkpoints that viewers are told of."""


class Saving:
    """Writes at most one checkpoint at a time, and outlives every failed write."""

    def __init__(self, saver: Saver | None, algorithm: ServedAlgorithm, turn: ModelTurn) -> None:
        """Save with ``saver``; None saves nothing."""
        self.written: deque[SavedCheckpoint] = deque(maxlen=MAX_SHOWN_CHECKPOINTS)
        """The latest checkpoints."""
        self.num_failed = 0
        """Writes that failed since the server started."""
        self._saver = saver
        self._algorithm = algorithm
        self._turn = turn
        self._write: asyncio.Task[SavedCheckpoint | None] | None = None
        self._copied_at: tuple[int, int] | None = None
        """Steps and learns when the state was last copied."""

    async def save(self) -> None:
        """Copy the state and begin to write it."""
        if self._saver is None:
            return
        if self._write is not None and not self._write.done():
            logger.warning("the last checkpoint is still being written; this one is left out")
            return
        self._copied_at = self._now()
        write = await self._turn.long(self._saver.snapshot)
        self._write = asyncio.create_task(self._run(write))

    async def save_finally(self) -> None:
        """Save what the run ends with, unless that was just done, and wait until it is on disk.

        Raises:
            CheckpointError: it could not be written.
        """
        if self._saver is None:
            return
        saved = None if self._write is None else await self._write
        if saved is None or self._copied_at != self._now():
            await self.save()
            assert self._write is not None
            saved = await self._write
        if saved is None:
            raise CheckpointError(f"the checkpoint could not be written; {self.latest()}")
        dropped = self._algorithm.global_step - saved.step
        if dropped:
            logger.info(
                "dropped %d frames collected since the last learn; the checkpoint is of step %d",
                dropped,
                saved.step,
            )

    def latest(self) -> str:
        """Where the last checkpoint is, in words."""
        if not self.written:
            return "no checkpoint was written since the server started"
        return f"the last checkpoint is {self.written[-1].path}"

    def _now(self) -> tuple[int, int]:
        return self._algorithm.global_step, self._algorithm.num_learns

    async def _run(self, write: Callable[[], SavedCheckpoint]) -> SavedCheckpoint | None:
        try:
            saved = await asyncio.to_thread(write)
        except Exception as error:
            # The disk, or a writer that retries or records: training outlives any failed write.
            self.num_failed += 1
            logger.error(
                "CHECKPOINT NOT SAVED near step %d: %s: %s; %s",
                self._algorithm.global_step,
                type(error).__name__,
                error,
                self.latest(),
                exc_info=not isinstance(error, OSError),
            )
            return None
        self.written.append(saved)
        logger.info("saved %s (%d bytes in %.2f s)", saved.path, saved.num_bytes, saved.seconds)
        return saved
