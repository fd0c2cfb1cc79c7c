"""The env clients as a person wants to see them: how fast each is now, and which are in trouble."""

import statistics
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from plugrl_tui.core import glyphs
from plugrl_tui.core.snapshot import Worker

RATE_WINDOW_S = 4.0
"""Frames per second are those of at least so long, or of the whole time connected."""
SLOW_FACTOR = 3.0
"""A worker is slow when a step takes so many times what the middle one of all takes …"""
SLOW_FLOOR_S = 0.02
"""… and at least this long."""
LOST_SHOWN_S = 300.0
LOST_SHOWN = 50


class Condition(Enum):
    """What is the matter with a worker, the worst first."""

    LOST = (glyphs.CROSS, "lost")
    SLOW = (glyphs.BANG, "slow")
    MUTE = (glyphs.RING, "mute")
    SYNC = (glyphs.CYCLE, "sync")
    OK = (glyphs.DOT, "ok")

    @property
    def label(self) -> str:
        """Sign and word."""
        return f"{self.value[0]} {self.value[1]}"

    @property
    def meaning(self) -> str:
        """A sentence for the detail line."""
        return _MEANINGS[self]


_MEANINGS = {
    Condition.LOST: "its connection is gone; it comes back as a new worker",
    Condition.SLOW: f"its steps take {SLOW_FACTOR:g} times those of the middle worker, or longer",
    Condition.MUTE: "it asked for nothing for so long that the queue no longer waits for it",
    Condition.SYNC: "connected, and has not asked for its first actions yet",
    Condition.OK: "steps its envs",
}
_ORDER = list(Condition)


class WorkerRow(NamedTuple):
    """One worker at one moment."""

    condition: Condition
    worker: Worker
    frames_per_second: float
    seen_seconds: float
    """Since it last changed its state; since it was lost."""
    missing: bool
    """Whether the queue waits for it."""

    @property
    def num_discarded(self) -> int:
        """Its frames that were not stored."""
        return sum(self.worker.discarded.values())


class _Sample(NamedTuple):
    time: float
    frames: int


class _Known(NamedTuple):
    """What is remembered of a worker between snapshots."""

    worker: Worker
    before: _Sample
    rate: float
    step_seconds: float
    """Smoothed, so that one late step does not make a slow worker."""


class Workers:
    """Follows workers over snapshots; fed about once a second."""

    def __init__(self) -> None:
        """Know nobody."""
        self._known: dict[int, _Known] = {}
        self._lost: dict[int, tuple[Worker, float]] = {}
        self._missing: frozenset[int] = frozenset()
        self._now = 0.0

    @property
    def num_connected(self) -> int:
        """Workers in the latest snapshot."""
        return len(self._known)

    @property
    def num_seen(self) -> int:
        """Those, and the ones that were lost lately."""
        return len(self._known) + len(self._lost)

    def update(self, workers: Sequence[Worker], missing: Iterable[int], now: float) -> list[Worker]:
        """Take a snapshot of ``now`` seconds; returns those that are newly lost."""
        ids = {worker.id for worker in workers}
        gone = [known.worker for known in self._known.values() if known.worker.id not in ids]
        self._lost |= {worker.id: (worker, now) for worker in gone}
        self._known = {worker.id: self._remembered(worker, now) for worker in workers}
        recent = [
            (key, lost)
            for key, lost in self._lost.items()
            if now - lost[1] < LOST_SHOWN_S and key not in ids
        ]
        self._lost = dict(recent[-LOST_SHOWN:])
        self._missing = frozenset(missing)
        self._now = now
        return gone

    def forget(self) -> None:
        """A new server: its workers have nothing to do with those known."""
        self._known.clear()
        self._lost.clear()

    def rows(self) -> list[WorkerRow]:
        """All workers, those in trouble first, then by id."""
        usual = self._usual_step()
        rows = [self._row(known, usual) for known in self._known.values()]
        rows += [
            WorkerRow(Condition.LOST, worker, 0.0, self._now - since, missing=False)
            for worker, since in self._lost.values()
        ]
        return sorted(rows, key=lambda row: (_ORDER.index(row.condition), row.worker.id))

    def _remembered(self, worker: Worker, now: float) -> _Known:
        sample = _Sample(now, worker.frames_kept + sum(worker.discarded.values()))
        known = self._known.get(worker.id)
        if known is None:
            return _Known(worker, sample, worker.frames_per_second, worker.step_seconds)
        step = 0.7 * known.step_seconds + 0.3 * worker.step_seconds
        passed = now - known.before.time
        if passed < 0:  # the server's clock was set back
            return _Known(worker, sample, known.rate, step)
        if passed < RATE_WINDOW_S:
            return known._replace(worker=worker, step_seconds=step)
        rate = (sample.frames - known.before.frames) / passed
        return _Known(worker, sample, max(rate, 0.0), step)

    def _usual_step(self) -> float:
        steps = [known.step_seconds for known in self._known.values() if known.step_seconds > 0]
        return statistics.median_low(steps) if steps else 0.0

    def _row(self, known: _Known, usual_step_s: float) -> WorkerRow:
        worker = known.worker
        return WorkerRow(
            _condition(known, max(SLOW_FACTOR * usual_step_s, SLOW_FLOOR_S)),
            worker,
            known.rate,
            worker.state_seconds,
            missing=worker.id in self._missing,
        )


def _condition(known: _Known, slow_s: float) -> Condition:
    worker = known.worker
    if worker.state == "ignored":
        return Condition.MUTE
    if worker.state == "joined":
        return Condition.SYNC
    waits_long = worker.state == "stepping" and worker.state_seconds > max(slow_s, 1.0)
    if known.step_seconds > slow_s or waits_long:
        return Condition.SLOW
    return Condition.OK
