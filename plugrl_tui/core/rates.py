"""What happens per second, from the counters of successive snapshots."""

from collections import deque
from typing import NamedTuple

from plugrl_tui.core.snapshot import Snapshot

SAMPLE_S = 1.0
"""At least so long between two samples."""
KEPT = 240
"""Samples kept: four minutes."""
_PACE_SAMPLES = 60
"""The pace is that of the last minute, which mostly holds a learn, too."""


class _Sample(NamedTuple):
    time: float
    step: int
    kept: int
    discarded: int
    taken: int


class Rates:
    """Histories with one number a second."""

    def __init__(self) -> None:
        """Know nothing."""
        self._samples: deque[_Sample] = deque(maxlen=_PACE_SAMPLES)
        self._causes: dict[str, int] = {}
        self._cpu: tuple[float, float] | None = None
        self.queued: deque[int] = deque(maxlen=KEPT)
        """Envs in the infer queue."""
        self.frames: deque[float] = deque(maxlen=KEPT)
        """Frames a second that came."""
        self.actions: deque[float] = deque(maxlen=KEPT)
        """Envs a second that were given actions."""
        self.discarded: deque[float] = deque(maxlen=KEPT)
        """Frames a second that were discarded."""
        self.by_cause: dict[str, deque[float]] = {}
        """The same for each cause."""
        self.recent: deque[tuple[int, int]] = deque(maxlen=KEPT)
        """Frames and discarded frames of each second."""
        self.cpu: deque[float] = deque(maxlen=KEPT)
        """Cores that the server's process used."""
        self.rss: deque[float] = deque(maxlen=KEPT)
        """Bytes of memory that it held."""

    @property
    def steps_per_second(self) -> float | None:
        """Over the last minute; None before there are two samples."""
        if len(self._samples) < 2:
            return None
        first, last = self._samples[0], self._samples[-1]
        return max(last.step - first.step, 0) / max(last.time - first.time, 1e-9)

    def discarded_share(self, frames: int) -> tuple[float, int]:
        """The share of the latest ``frames`` frames that was discarded, and of how many it is."""
        seen = lost = 0
        for total, discarded in reversed(self.recent):
            seen, lost = seen + total, lost + discarded
            if seen >= frames:
                break
        return (lost / seen if seen else 0.0), seen

    def take(self, snapshot: Snapshot) -> bool:
        """Take a snapshot; True when it made a sample."""
        counters, queue = snapshot.counters, snapshot.queue
        sample = _Sample(
            snapshot.time,
            counters.global_step,
            counters.frames_kept,
            counters.frames_discarded,
            queue.envs_taken or 0,
        )
        if not self._samples or sample.time < self._samples[-1].time:
            # The first one, or the server's clock was set back.
            self._samples.clear()
            self._samples.append(sample)
            self._causes = dict(counters.discarded)
            self._cpu = None
            self._sample_process(snapshot)
            return True
        last = self._samples[-1]
        passed = sample.time - last.time
        if passed < SAMPLE_S - 0.05:
            return False
        kept, discarded = sample.kept - last.kept, sample.discarded - last.discarded
        self._samples.append(sample)
        self.queued.append(queue.envs)
        self.frames.append((kept + discarded) / passed)
        self.actions.append((sample.taken - last.taken) / passed)
        self.discarded.append(discarded / passed)
        self.recent.append((kept + discarded, discarded))
        for cause, number in counters.discarded.items():
            history = self.by_cause.setdefault(cause, deque(maxlen=KEPT))
            history.append((number - self._causes.get(cause, 0)) / passed)
        self._causes = dict(counters.discarded)
        self._sample_process(snapshot)
        return True

    def _sample_process(self, snapshot: Snapshot) -> None:
        process = snapshot.process
        if process.cpu_seconds is None:
            return
        if self._cpu is not None:
            before_time, before_cpu = self._cpu
            passed = max(snapshot.time - before_time, 1e-9)
            self.cpu.append(max(process.cpu_seconds - before_cpu, 0.0) / passed)
            self.rss.append(float(process.rss_bytes or 0))
        self._cpu = (snapshot.time, process.cpu_seconds)
