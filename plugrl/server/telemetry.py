"""The snapshot: all that a viewer may want to know of the server, as JSON-able data."""

import logging
import math
import os
import platform
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plugrl import __version__
from plugrl.protocol.messages import PROTOCOL_VERSION
from plugrl.server.algorithm import RunIdentity
from plugrl.server.loop import Loop
from plugrl.server.worker import DiscardCause, Worker

SNAPSHOT_VERSION = 1
_SHOWN_LOG_LINES = 200
_SHOWN_BATCHES = 64


class Telemetry(logging.Handler):
    """Reads the loop's own counters; costs nothing until somebody asks."""

    def __init__(self, loop: Loop, identity: RunIdentity) -> None:
        """Watch ``loop`` and keep the latest log lines of this package."""
        super().__init__()
        self._loop = loop
        self._identity = identity
        self._started = time.monotonic()
        self._first_step = loop.algorithm.global_step
        self._lines: deque[dict[str, Any]] = deque(maxlen=_SHOWN_LOG_LINES)
        self._num_lines = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a log line."""
        self._num_lines += 1
        self._lines.append(
            {"time": record.created, "level": record.levelname, "text": record.getMessage()}
        )

    def snapshot(self) -> dict[str, Any]:
        """Everything, as strict JSON data (no NaN)."""
        snapshot: dict[str, Any] = _strict(
            {
                "version": SNAPSHOT_VERSION,
                "time": time.time(),
                "run": self._run(),
                "phase": self._loop.phase,
                "stopping": self._loop.stopping,
                "process": _process(),
                "counters": self._counters(),
                "infer_queue": self._infer_queue(),
                "workers": [_worker(w) for w in self._loop.batcher.workers.values()],
                "learn": self._learn(),
                # Algorithms of plug-ins report bools and NumPy's numbers, too.
                "metrics": {name: float(value) for name, value in self._loop.metrics.items()},
                "checkpoints": [
                    {
                        "path": str(c.path),
                        "step": c.step,
                        "bytes": c.num_bytes,
                        "seconds": c.seconds,
                    }
                    for c in self._loop.saving.written
                ],
                "log_lines": self._num_lines,
                "log": list(self._lines),
            }
        )
        return snapshot

    def prometheus(self) -> str:
        """The counters and gauges in Prometheus' text format."""
        counters = self._counters()
        queue = self._infer_queue()
        samples = [
            _Sample("plugrl_global_step", "counter", counters["global_step"]),
            _Sample("plugrl_learns_total", "counter", counters["num_learns"]),
            _Sample("plugrl_frames_kept_total", "counter", counters["frames_kept"]),
            *(
                _Sample("plugrl_frames_discarded_total", "counter", number, f'{{cause="{cause}"}}')
                for cause, number in counters["discarded"].items()
            ),
            _Sample("plugrl_checkpoints_failed_total", "counter", counters["checkpoints_failed"]),
            _Sample("plugrl_workers", "gauge", len(self._loop.batcher.workers)),
            _Sample("plugrl_infer_queue_requests", "gauge", queue["requests"]),
            _Sample("plugrl_infer_queue_envs", "gauge", queue["envs"]),
            _Sample("plugrl_uptime_seconds", "gauge", counters["uptime_seconds"]),
            *(
                _Sample("plugrl_metric", "gauge", value, f'{{name="{name}"}}')
                for name, value in self._loop.metrics.items()
            ),
        ]
        return "".join(_exposition(samples))

    def _run(self) -> dict[str, Any]:
        return {
            **asdict(self._identity),
            "start_step": self._first_step,
            "plugrl_version": __version__,
            "protocol_version": PROTOCOL_VERSION,
        }

    def _counters(self) -> dict[str, Any]:
        algorithm, collector = self._loop.algorithm, self._loop.collector
        uptime = time.monotonic() - self._started
        frames_kept, frames_discarded = collector.frames_kept, collector.discarded.total()
        return {
            "global_step": algorithm.global_step,
            "num_learns": algorithm.num_learns,
            "frames_kept": frames_kept,
            "frames_discarded": frames_discarded,
            "discarded": {cause.value: collector.discarded[cause] for cause in DiscardCause},
            "checkpoints_failed": self._loop.saving.num_failed,
            "uptime_seconds": uptime,
            "frames_per_second": (frames_kept + frames_discarded) / max(uptime, 1e-9),
            "steps_per_second": (algorithm.global_step - self._first_step) / max(uptime, 1e-9),
        }

    def _infer_queue(self) -> dict[str, Any]:
        batcher = self._loop.batcher
        since = batcher.waiting_since
        return {
            "requests": batcher.num_requests,
            "envs": batcher.num_envs,
            "threshold_envs": batcher.min_envs,
            "threshold_requests": None if batcher.min_envs else len(batcher.workers),
            "oldest_wait_seconds": 0.0 if since is None else time.monotonic() - since,
            "batches": batcher.num_batches,
            "envs_taken": batcher.num_taken,
            "missing": [worker.id for worker in batcher.missing()],
            "batch_sizes": list(batcher.batch_sizes)[-_SHOWN_BATCHES:],
            "wait_seconds": _percentiles(batcher.wait_seconds),
            "infer_seconds": _percentiles(self._loop.turn.brief_seconds),
        }

    def _learn(self) -> dict[str, Any] | None:
        progress = self._loop.progress
        if progress is None:
            return None
        return {
            "epoch": progress.epoch,
            "num_epochs": progress.num_epochs,
            "minibatch": progress.minibatch,
            "num_minibatches": progress.num_minibatches,
            "seconds": time.monotonic() - progress.started_at,
        }


def _process() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": platform.node(),
        "cpu_seconds": time.process_time(),
        "rss_bytes": _resident_bytes(),
    }


def _resident_bytes() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):  # only Linux has it
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class _Sample(NamedTuple):
    """One line of Prometheus' text format."""

    name: str
    kind: str
    """counter or gauge."""
    value: float
    labels: str = ""
    """In braces, where there are any."""


def _worker(worker: Worker) -> dict[str, Any]:
    stats, now = worker.stats, time.monotonic()
    returns = stats.episodes.returns
    connected = now - stats.joined_at
    frames = stats.frames_kept + stats.discarded.total()
    return {
        "id": worker.id,
        "address": worker.address,
        "state": worker.state,
        "state_seconds": now - worker.since,
        "envs": worker.num_envs,
        "frames_kept": stats.frames_kept,
        "discarded": {cause.value: number for cause, number in stats.discarded.items()},
        "frames_per_second": frames / max(connected, 1e-9),
        "step_seconds": stats.step_seconds,
        "connected_seconds": connected,
        "episodes": stats.episodes.num_episodes,
        "return_mean": sum(returns) / len(returns) if returns else None,
    }


def _percentiles(seconds: Iterable[float]) -> dict[str, float] | None:
    values = np.fromiter(seconds, float)
    if not len(values):
        return None
    p50, p95 = np.percentile(values, [50, 95])
    return {"p50": float(p50), "p95": float(p95), "max": float(values.max())}


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _exposition(samples: list[_Sample]) -> Iterable[str]:
    described = set()
    for name, kind, value, labels in samples:
        if name not in described:
            described.add(name)
            yield f"# TYPE {name} {kind}\n"
        yield f"{name}{labels} {float(value)!r}\n"
