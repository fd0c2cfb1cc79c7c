"""One run as it is known now: written by its feed, read by the panes.

Plain assignments and counters; nobody is told of a change. Every part has a revision, and who shows
it looks, a few times a second, whether that has changed.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from plugrl.runs.records import RunRecord, RunState, RunStatus
from plugrl_tui.core.curves import Curves
from plugrl_tui.core.rates import Rates
from plugrl_tui.core.snapshot import Checkpoint, LogLine, Snapshot
from plugrl_tui.core.workers import Workers

MAX_LOG_LINES = 5000
DEFAULT_PORT = 8000
"""Where a server listens unless it is told otherwise; a test compares it with the configs."""
LOST_AFTER_S = 3.0
"""A run whose process is gone has so long to have left a last word."""
STALE_AFTER_S = 2.5
"""A server sends four snapshots a second; so long without one, what is shown is dimmed."""


class Link(StrEnum):
    """How the run's server is reached."""

    NONE = "FILES"
    """Not at all: there is none, or only the folder is read."""
    CONNECTING = "CONNECTING"
    LIVE = "LIVE"
    RECONNECTING = "RECONNECTING"
    ENDED = "ENDED"
    """The server has said that the run is over."""
    REFUSED = "REFUSED"
    """It answers, but not to us: a wrong key, another version."""


class Part(StrEnum):
    """What a pane shows, and what a revision is counted of."""

    HEAD = "head"
    QUEUE = "queue"
    WORKERS = "workers"
    DISCARDS = "discards"
    LEARN = "learn"
    CURVES = "curves"
    LOG = "log"
    HOST = "host"


class Verdict(NamedTuple):
    """What is said of a run: one word, and why."""

    state: RunState
    reason: str


@dataclass
class RunModel:
    """All that is known of one run."""

    name: str = ""
    """As it was asked for, until the run tells its own."""
    url: str | None = None
    """Where its server is looked for."""
    clock: Callable[[], float] = time.time
    """Seconds since 1970; tests hold it still."""
    revisions: dict[Part, int] = field(default_factory=lambda: dict.fromkeys(Part, 0))
    link: Link = Link.NONE
    link_reason: str = ""
    """A sentence: why it is not live."""
    retry_at: float | None = None
    """When the feed tries again, by ``clock``."""
    received_at: float | None = None
    """When the latest snapshot came, by ``clock``."""
    record: RunRecord | None = None
    status: RunStatus | None = None
    folder: str = ""
    """The run's folder, where it can be read here."""
    problems: tuple[str, ...] = ()
    """Sentences about files that can't be read."""
    notice: str = ""
    """What the server answered last to a command."""
    snapshot: Snapshot | None = None
    curves: Curves = field(default_factory=Curves)
    curves_from_files: bool = False
    """Whether the folder tells the metrics, exactly, so that snapshots need not."""
    log_from_files: bool = False
    """Likewise for the log."""
    workers: Workers = field(default_factory=Workers)
    rates: Rates = field(default_factory=Rates)
    log: deque[LogLine] = field(default_factory=lambda: deque(maxlen=MAX_LOG_LINES))
    log_total: int = 0
    """Lines ever taken; tells a follower how far the log has moved."""
    _server_pid: int | None = None
    _log_lines: int = 0

    def touch(self, *parts: Part) -> None:
        """Say that these parts have changed."""
        for part in parts:
            self.revisions[part] += 1

    def set_link(self, link: Link, reason: str = "", *, retry_at: float | None = None) -> None:
        """Say how the server is reached."""
        self.link, self.link_reason, self.retry_at = link, reason, retry_at
        if link in {Link.ENDED, Link.NONE}:
            self.workers.forget()
        self.touch(*Part)

    def take_snapshot(self, snapshot: Snapshot) -> None:
        """Take what the server has just sent."""
        before, self.snapshot = self.snapshot, snapshot
        self.received_at = self.clock()
        if snapshot.process.pid != self._server_pid:
            self._begin_server(snapshot)
        if self.link is not Link.LIVE:
            self.set_link(Link.LIVE)
        self._take_log(snapshot)
        self._take_metrics(before, snapshot)
        if self.rates.take(snapshot):
            self.workers.update(snapshot.workers, snapshot.queue.missing, snapshot.time)
            self.touch(Part.WORKERS, Part.DISCARDS, Part.HOST)
        self.touch(Part.HEAD, Part.QUEUE, Part.LEARN)

    def add_log(self, lines: Iterable[LogLine]) -> None:
        """Append lines to the log."""
        for line in lines:
            self.log.append(line)
            self.log_total += 1
        self.touch(Part.LOG)

    def add_metrics(self, step: int, time: float, metrics: Mapping[str, float | None]) -> None:
        """Add a point to every curve."""
        self.curves.add(step, time, metrics)
        self.touch(Part.CURVES, Part.LEARN, Part.HEAD)

    def latest(self, metric: str) -> float | None:
        """The newest number of a metric: a live server's, as its disk may be full."""
        told = self.snapshot.metrics.get(metric) if self.snapshot is not None else None
        filed = self.curves.last(metric)
        return told if told is not None and (self.link is Link.LIVE or filed is None) else filed

    @property
    def knows_metrics(self) -> bool:
        """Whether a metric that is missing has not been reported so far."""
        return self.link is Link.LIVE or self.curves_from_files

    @property
    def title(self) -> str:
        """The run's own name where it is known."""
        if self.snapshot is not None and self.snapshot.run.exp_name:
            return self.snapshot.run.exp_name
        return self.record.exp_name if self.record else self.name

    @property
    def env(self) -> str | None:
        """The env's name, where the folder or the server tells it."""
        if self.record is not None and self.record.env:
            return self.record.env
        return self.snapshot.run.env if self.snapshot is not None else None

    @property
    def has_own_clients(self) -> bool:
        """Whether env clients were started with it, which return when they or the server die."""
        clients = self.record.config.get("clients") if self.record is not None else None
        return bool(clients and clients.get("num_procs"))

    @property
    def step(self) -> int | None:
        """Frames so far."""
        live = self.snapshot.counters.global_step if self.snapshot else None
        if self.link is Link.LIVE or self.status is None:
            return live
        return self.status.step

    @property
    def total_steps(self) -> int | None:
        """Frames after which the run is done."""
        if self.snapshot is not None:
            return self.snapshot.run.total_steps
        return self.status.total_steps if self.status else None

    @property
    def is_over(self) -> bool:
        """Whether nothing of the run is left to stop."""
        state = self.verdict().state
        return state.final or state is RunState.LOST

    @property
    def stale(self) -> bool:
        """Whether what is shown is old: to be dimmed."""
        if self.received_at is None:
            return False
        return self.link is not Link.LIVE or self.clock() - self.received_at > STALE_AFTER_S

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest one that is known; the last of a run is in its status alone."""
        told = self.snapshot.checkpoints[-1:] if self.snapshot is not None else ()
        saved = self.status.last_checkpoint if self.status else None
        if saved is None or (told and told[0].step >= saved.step):
            return told[0] if told else None
        return Checkpoint(saved.path, saved.step, 0, 0.0)

    @property
    def steps_per_second(self) -> float | None:
        """Over the last minute; the server's mean before that is known."""
        now = self.rates.steps_per_second
        if now is not None or self.snapshot is None:
            return now
        return self.snapshot.counters.steps_per_second

    def eta_seconds(self) -> float | None:
        """Until the run has all its steps, at its present pace; not before the first learn.

        That is when a server has got into its stride, and its pace holds a learn.
        """
        if self.snapshot is None or self.total_steps is None or self.link is not Link.LIVE:
            return None
        if not self.snapshot.metrics:
            return None
        left = self.total_steps - self.snapshot.counters.global_step
        # A learn of more than a minute brings no steps: then the mean counts.
        pace = self.rates.steps_per_second or self.snapshot.counters.steps_per_second
        return max(left, 0) / pace if pace > 0 else None

    def verdict(self) -> Verdict:
        """The state and why."""
        if self.link is Link.LIVE and self.snapshot is not None:
            return _live_verdict(self.snapshot)
        if self.status is not None:
            # Here, as psutil comes with it, which a run without a folder does not need.
            from plugrl.runs.liveness import observed_state

            state = observed_state(self.status, self.clock())
            if state is RunState.LOST and self.clock() - self.status.updated_at < LOST_AFTER_S:
                # Its last word may be written already, and not be read yet.
                state = self.status.state
            return Verdict(state, self.status.reason or _REASONS.get(state, ""))
        if self.link is Link.ENDED:
            return self._ended_verdict()
        if self.snapshot is not None:
            return Verdict(_live_verdict(self.snapshot).state, self.link_reason)
        if self.record is not None and self.clock() - self.record.created_at > LOST_AFTER_S:
            return Verdict(RunState.LOST, "its status.json is missing or damaged")
        return Verdict(RunState.STARTING, self.link_reason)

    def client_command(self) -> str:
        """What starts an env client for this run."""
        words = ["plugrl-run-env-client", self.env or "ENV"]
        parts = urlsplit(self.url or "")
        if parts.scheme == "wss":
            words.append(f"--server-host {self.url}")
        else:
            if parts.hostname not in {None, "127.0.0.1", "localhost"}:
                words.append(f"--server-host {parts.hostname}")
            if parts.port not in {None, DEFAULT_PORT}:
                words.append(f"--server-port {parts.port}")
        return " ".join(words)

    def _ended_verdict(self) -> Verdict:
        total, step = self.total_steps, self.step
        done = total is not None and step is not None and step >= total
        state = RunState.DONE if done else RunState.STOPPED
        return Verdict(state, _REASONS[state])

    def _begin_server(self, snapshot: Snapshot) -> None:
        """Forget what was the last server's: its workers, its rates, its log's numbering."""
        if self._server_pid is not None:
            self.workers.forget()
            self.rates = Rates()
            if not self.curves_from_files:
                self.curves.cut_after(snapshot.run.start_step)
        self._server_pid, self._log_lines = snapshot.process.pid, 0

    def _take_log(self, snapshot: Snapshot) -> None:
        total = len(snapshot.log) if snapshot.log_lines is None else snapshot.log_lines
        new = min(total - self._log_lines, len(snapshot.log))
        if new > 0 and not self.log_from_files:
            self.add_log(snapshot.log[-new:])
        self._log_lines = total

    def _take_metrics(self, before: Snapshot | None, snapshot: Snapshot) -> None:
        if self.curves_from_files or not snapshot.metrics:
            return
        counters = snapshot.counters
        if before is None:
            # At which step that learn was is not known; the present one stands for it.
            if not self.curves.steps:
                self.curves.add(
                    counters.global_step, snapshot.time, snapshot.metrics, is_learn=False
                )
                self.touch(Part.CURVES)
        elif before.counters.num_learns != counters.num_learns:
            self.add_metrics(counters.global_step, snapshot.time, snapshot.metrics)


_REASONS = {
    RunState.LOST: "its process is gone, and left no last word",
    RunState.STALLED: "its process lives, but has said nothing for a minute",
    RunState.DONE: "it has all its steps",
    RunState.STOPPED: "it was stopped and saved",
}


def _live_verdict(snapshot: Snapshot) -> Verdict:
    if snapshot.phase == "finished" and not snapshot.stopping:
        return Verdict(RunState.DONE, "the server is closing")
    if snapshot.stopping or snapshot.phase in {"stopping", "finished"}:
        return Verdict(RunState.STOPPING, "finishing, saving, closing the env clients")
    if snapshot.phase == "starting":
        return Verdict(RunState.STARTING, "")
    if not snapshot.workers and snapshot.learn is None:
        return Verdict(RunState.WAITING, "no env client is connected")
    return Verdict(RunState.RUNNING, "")
