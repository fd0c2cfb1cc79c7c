"""The infer queue: who is waited for, and when a batch is due."""

import time
from collections import deque
from collections.abc import Iterator

from plugrl.bundles import bundle
from plugrl.protocol.messages import Infer, Observation
from plugrl.server.worker import Worker, WorkerState

_LATENCY_WINDOW = 1024

MAX_SHARED_TEXT_BYTES = 2**24
"""Text of a batch of several workers, as an array in which every row is as long as the longest:
one worker's long text would otherwise cost memory and time for the rows of all the others."""


@bundle
class Request:
    """One worker's pending infer."""

    worker: Worker
    infer: Infer
    queued_at: float
    """Monotonic seconds."""


class Batcher:
    """Gathers the workers' infers until a batch is due.

    A batch is due once every connected worker has an infer queued or, with a minimum size, once
    that many envs are queued. Workers in the state ``IGNORED`` are not waited for; asking again
    ends that state.
    """

    def __init__(self, *, min_envs: int | None) -> None:
        """Start without workers.

        Args:
            min_envs: envs that make a batch; None waits for every connected worker.
        """
        self.min_envs = min_envs
        self.workers: dict[int, Worker] = {}
        """Connected workers by id."""
        self._queue: dict[int, Request] = {}
        self._num_envs = 0
        self.wait_seconds: deque[float] = deque(maxlen=_LATENCY_WINDOW)
        """How long the latest infers waited."""
        self.batch_sizes: deque[int] = deque(maxlen=_LATENCY_WINDOW)
        """Envs in the latest batches."""
        self.num_batches = 0
        """Batches taken so far."""
        self.num_taken = 0
        """Envs in all of them."""

    def join(self, worker: Worker) -> None:
        """Count ``worker`` among those to wait for."""
        self.workers[worker.id] = worker

    def leave(self, worker: Worker) -> None:
        """Forget ``worker`` and its infer at once."""
        self.workers.pop(worker.id, None)
        request = self._queue.pop(worker.id, None)
        if request is not None:
            self._num_envs -= len(request.infer.env_indices)

    def add(self, worker: Worker, infer: Infer) -> None:
        """Queue ``worker``'s infer."""
        worker.enter(WorkerState.QUEUED)
        worker.num_envs = len(infer.env_indices)
        self._queue[worker.id] = Request(worker, infer, worker.since)
        self._num_envs += worker.num_envs

    @property
    def num_requests(self) -> int:
        """Infers queued."""
        return len(self._queue)

    @property
    def num_envs(self) -> int:
        """Envs queued."""
        return self._num_envs

    @property
    def waiting_since(self) -> float | None:
        """When the oldest queued infer came, in monotonic seconds; None when none is queued."""
        first = next(iter(self._queue.values()), None)
        return first.queued_at if first else None

    def due(self) -> bool:
        """Whether ``take`` would have a batch."""
        if not self._queue:
            return False
        if self.min_envs is not None:
            return self._num_envs >= self.min_envs
        return len(self._queue) == len(self.workers) or next(self._missing(), None) is None

    def missing(self) -> list[Worker]:
        """The workers that the queue is waiting for."""
        return list(self._missing())

    def _missing(self) -> Iterator[Worker]:
        for id_, worker in self.workers.items():
            if id_ not in self._queue and worker.state is not WorkerState.IGNORED:
                yield worker

    def take(self) -> list[Request]:
        """The whole queue, in the order of the workers' ids."""
        requests = [self._queue[id_] for id_ in sorted(self._queue)]
        now = time.monotonic()
        self.wait_seconds.extend(now - request.queued_at for request in requests)
        self.batch_sizes.append(self._num_envs)
        self.num_batches += 1
        self.num_taken += self._num_envs
        self._queue.clear()
        self._num_envs = 0
        return requests


def concatenate(requests: list[Request]) -> list[tuple[list[Request], Observation]]:
    """Batches of requests whose observations have the same form, most often just one."""
    if _padded_text_bytes(requests) > MAX_SHARED_TEXT_BYTES:
        return [([request], request.infer.obs) for request in requests]
    try:
        return [(requests, Observation.concatenate([r.infer.obs for r in requests]))]
    except ValueError:
        groups: dict[object, list[Request]] = {}
        for request in requests:
            groups.setdefault(_form(request.infer.obs), []).append(request)
        return [
            (group, Observation.concatenate([r.infer.obs for r in group]))
            for group in groups.values()
        ]


def _padded_text_bytes(requests: list[Request]) -> int:
    longest = max(request.infer.obs.text.itemsize for request in requests)
    return longest * sum(len(request.infer.obs) for request in requests)


def _form(obs: Observation) -> object:
    return tuple(
        frozenset((name, array.shape[1:]) for name, array in arrays.items())
        for arrays in (obs.images, obs.states)
    )
