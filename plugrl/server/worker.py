"""A peer as the collector sees it: a connection, or an env in this process."""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from plugrl.data.episodes import EpisodeStats
from plugrl.protocol.closing import Closing
from plugrl.protocol.messages import Array
from plugrl.server.step_states import StepStates


class WorkerState(StrEnum):
    """What a worker is about."""

    JOINED = "joined"
    """Connected; has asked for nothing yet."""
    QUEUED = "queued"
    """Its infer waits for the batch."""
    STEPPING = "stepping"
    """Has its action; its feedback is due."""
    BETWEEN = "between"
    """Has sent its feedback; its next infer is due."""
    IGNORED = "ignored"
    """Asked for nothing for so long that the queue does not wait for it."""


SILENT = frozenset({WorkerState.JOINED, WorkerState.BETWEEN})
"""States in which the worker's infer is due."""


class DiscardCause(StrEnum):
    """Why a frame was not stored."""

    OLDER_POLICY = "older_policy"
    """A learn happened between its inference and its feedback."""
    BUFFER_FULL = "buffer_full"
    """The algorithm was no longer collecting."""
    NO_STEP_STATE = "no_step_state"
    """The env held no action: a reconnect, or a second feedback for one action."""
    BAD_OBSERVATION = "bad_observation"
    """The feedback's observation could not be split per env."""


@dataclass
class WorkerStats:
    """What the monitor shows of a worker."""

    joined_at: float = field(default_factory=time.monotonic)
    """Monotonic seconds."""
    frames_kept: int = 0
    discarded: Counter[DiscardCause] = field(default_factory=Counter)
    episodes: EpisodeStats = field(default_factory=EpisodeStats)
    step_seconds: float = 0.0
    """How long the latest action took to come back as feedback."""


class Place(NamedTuple):
    """What a loop gives to each worker that is to join it."""

    worker_id: int
    """Orders batches, so that one seed gives one result; never used again."""
    stream_ids: Iterator[int]
    """Where the ids of its envs' streams are drawn from."""


class Worker(ABC):
    """One peer. Subclasses are the ways in: WebSocket, in-process, later Ray."""

    def __init__(self, address: str, place: Place) -> None:
        """Start without envs.

        Args:
            address: who it is, for logs and the monitor.
            place: from the loop it is to join.
        """
        self.id = place.worker_id
        self.address = address
        self.state = WorkerState.JOINED
        self.since = time.monotonic()
        """When ``state`` began, in monotonic seconds."""
        self.num_envs = 0
        """Envs in its latest infer."""
        self.step_states = StepStates(place.stream_ids)
        self.stats = WorkerStats()

    def enter(self, state: WorkerState) -> None:
        """Be in ``state`` from now on."""
        self.state = state
        self.since = time.monotonic()

    @abstractmethod
    def send(self, actions: Array) -> None:
        """Hand over the actions (H, n, *action shape) of its pending infer; never blocks."""

    @abstractmethod
    def close(self, closing: Closing) -> None:
        """Begin to close; never blocks."""

    def __str__(self) -> str:
        return f"worker {self.id} ({self.address})"
