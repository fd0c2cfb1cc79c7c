"""Hands metrics to the sinks, each in a thread of its own, so that none can hold up training."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from plugrl.training.tracking.sink import Sink

logger = logging.getLogger(__name__)

MAX_QUEUED_REPORTS = 256
"""Reports that wait for a sink; the oldest give way, loudly, to new ones."""
CLOSE_TIMEOUT_S = 15.0
"""How long the sinks may take, all together, to write what is queued and to close."""

OpenSink: TypeAlias = Callable[[], Sink]


class Tracker:
    """All sinks of a run."""

    def __init__(self, sinks: Mapping[str, OpenSink]) -> None:
        """Open ``sinks``, by name, in the background."""
        self._threads = [SinkThread(name, open_sink) for name, open_sink in sinks.items()]

    def report(self, metrics: Mapping[str, float], step: int) -> None:
        """Queue one learn's metrics; returns at once."""
        for thread in self._threads:
            thread.put(step, metrics)

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is queued and close; a sink that takes longer is left behind."""
        for thread in self._threads:
            thread.finish()
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0))


class SinkThread:
    """One sink behind a bounded queue; one that raises is disabled, never fatal."""

    def __init__(
        self, name: str, open_sink: OpenSink, *, max_queued: int = MAX_QUEUED_REPORTS
    ) -> None:
        """Start the thread, which opens the sink.

        Args:
            name: what the sink is called in the log.
            open_sink: makes the sink; imports what is heavy.
            max_queued: reports that may wait.
        """
        self.name = name
        self._open_sink = open_sink
        self._reports: queue.Queue[tuple[int, Mapping[str, float]] | None] = queue.Queue(max_queued)
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name=f"tracking-{name}", daemon=True)
        self._thread.start()

    def put(self, step: int, metrics: Mapping[str, float]) -> None:
        """Queue a report; a dead sink's are dropped."""
        if self._thread.is_alive():
            self._force((step, metrics))

    def finish(self) -> None:
        """Close the sink after what is queued."""
        self._force(None)

    def join(self, timeout_s: float) -> None:
        """Wait until the sink is closed."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.warning("%s did not close within its time and is left behind", self.name)

    def _force(self, report: tuple[int, Mapping[str, float]] | None) -> None:
        while True:
            try:
                self._reports.put_nowait(report)
            except queue.Full:
                self._drop_oldest()
            else:
                return

    def _drop_oldest(self) -> None:
        try:
            self._reports.get_nowait()
        except queue.Empty:
            return
        if self._dropped == 0:
            logger.warning("%s is too slow: the oldest reports are dropped", self.name)
        self._dropped += 1

    def _run(self) -> None:
        try:
            sink = self._open_sink()
            try:
                for step, metrics in iter(self._reports.get, None):
                    sink.write(step, metrics)
            finally:
                sink.close()
        except (Exception, SystemExit) as error:
            # Trackers fail in ways of their own, down to leaving the process when a login fails.
            logger.error(
                "%s is disabled for the rest of the run: %s: %s",
                self.name,
                type(error).__name__,
                error,
                exc_info=logger.isEnabledFor(logging.DEBUG),
            )
