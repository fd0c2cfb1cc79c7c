"""Work on the disk that is tried again: what is done, how often, and what is told of it."""

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from plugrl.algorithms.algorithm import TrainState
from plugrl.errors import PlugRLError
from plugrl.runs.records import Event, append_event
from plugrl.server.algorithm import SavedCheckpoint
from plugrl.training import checkpoint, step_folder
from plugrl.training.checkpoint import LoadedCheckpoint, Origin
from plugrl.training.spec import RunSpec

logger = logging.getLogger(__name__)

RETRIES = 5
"""Tries after the first: with the pauses below, a quarter of a minute in all."""
FIRST_PAUSE_S = 0.5
"""Before the second try; doubles from one to the next."""

T = TypeVar("T")


class DiskWork(Generic[T]):
    """A piece of work, and its result once it is done.

    A plain object, so that Prefect leaves it alone: it looks into dicts and dataclasses.
    """

    def __init__(
        self, do: Callable[[], T], *, on_retry: Callable[[int, Exception], None] | None = None
    ) -> None:
        """Do ``do``; tell ``on_retry`` of each try that failed and is followed by another."""
        self._do = do
        self._on_retry = on_retry
        self._result: list[T] = []
        self._error: Exception | None = None

    @property
    def result(self) -> T:
        """What came of it; raises what the latest try did."""
        if self._error is not None:
            raise self._error
        return self._result[0]

    def attempt(self, run_count: int) -> None:
        """Try for the ``run_count``-th time.

        Raises:
            OSError: the disk won't; another try may succeed.
            Exception: it is a mistake, which another try would repeat.
        """
        try:
            self._result, self._error = [self._do()], None
        except Exception as error:
            self._error = error
            if is_disk_trouble(error) and run_count <= RETRIES and self._on_retry is not None:
                self._on_retry(run_count, error)
            raise

    def __str__(self) -> str:
        """A line for the log of the task run."""
        result = self.result
        if isinstance(result, SavedCheckpoint):
            size = f"{result.num_bytes / 1e6:.2f} MB in {result.seconds:.2f} s"
            return f"saved step {result.step}: {size}, at {result.path}"
        if isinstance(result, LoadedCheckpoint):
            damaged = "".join(f"; skipped {skip.path}, damaged" for skip in result.skipped)
            return f"goes on from step {result.step}, at {result.path}{damaged}"
        return "there is no checkpoint yet: it begins afresh"


def is_disk_trouble(error: Exception) -> bool:
    """Whether another try may succeed; a refusal of ours stays one, though it be an OSError."""
    return isinstance(error, OSError) and not isinstance(error, PlugRLError)


def saving(
    spec: RunSpec,
    exp_dir: Path,
    origin: Origin,
    state: TrainState,
    metrics: Mapping[str, float],
) -> DiskWork[SavedCheckpoint]:
    """The write of one checkpoint; tries that fail become events of the run's folder."""
    owner, step = spec.provenance.owner, int(state.counters["global_step"])

    def tell(tries: int, error: Exception) -> None:
        logger.warning("the checkpoint of step %d is not saved yet: %s", step, error)
        details = {"tries": tries, "error": str(error)}
        event = Event(
            event="save_retried", attempt=owner.attempt if owner else 1, step=step, details=details
        )
        with contextlib.suppress(OSError):
            append_event(exp_dir, event)

    return DiskWork(partial(checkpoint.save, exp_dir, origin, state, metrics), on_retry=tell)


def searching(exp_dir: Path, spec: RunSpec) -> DiskWork[LoadedCheckpoint | None]:
    """The search for the newest valid checkpoint, which finds none where a run died before one."""

    def search() -> LoadedCheckpoint | None:
        steps = step_folder.step_dirs(exp_dir)
        if steps:
            # A disk that is away for a moment is no damage: this raises OSError.
            with contextlib.suppress(FileNotFoundError):
                (steps[-1] / step_folder.STATE_FILE).stat()
        elif "--resume" not in spec.provenance.argv:
            # It was the supervisor that asked to resume, and no person.
            return None
        return checkpoint.load_newest(exp_dir)

    return DiskWork(search)


def patiently(work: DiskWork[T]) -> T:
    """Do ``work`` without Prefect, with the same retries."""
    for tries in range(1, RETRIES + 1):
        try:
            work.attempt(tries)
            return work.result
        except OSError as error:
            if not is_disk_trouble(error):
                raise
            time.sleep(FIRST_PAUSE_S * 2.0 ** (tries - 1))
    work.attempt(RETRIES + 1)
    return work.result
