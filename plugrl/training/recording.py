"""What the records of a run are told by its parts: what it is, how it is, what happened."""

import contextlib
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from plugrl.errors import PlugRLError
from plugrl.runs.files import plain
from plugrl.runs.provenance import public
from plugrl.runs.recorder import Ending, Progress, RunRecorder
from plugrl.runs.records import Checkpoint, RunRecord, RunState
from plugrl.server.algorithm import SavedCheckpoint, Saver
from plugrl.server.loop import Phase, StopReason
from plugrl.server.observer import LoopObserver
from plugrl.server.server import Server
from plugrl.server.worker import Worker
from plugrl.training.checkpoint import LoadedCheckpoint
from plugrl.training.run_folder import RunFolder
from plugrl.training.spec import RunSpec
from plugrl.training.versions import versions

MIN_SECONDS_BETWEEN_LEARNS = 10.0
"""Of two learns that end within this time, the second is no event; metrics.jsonl has them all."""
LEFT_AT_ONCE = 130
"""The server's exit code after a second signal."""
PACKAGES = ("torch", "numpy", "gymnasium")
_UNBORN = Progress("starting", 0, 0, 0, collecting=False, stopping=False)


class Recording:
    """Tells a ``RunRecorder`` of a run, and of this package's log lines too."""

    def __init__(self, spec: RunSpec, folder: RunFolder) -> None:
        """Take note from now on; nothing is written before ``opened``."""
        self._spec = spec
        self._folder = folder
        self._server: Server | None = None
        self._parent: str | None = None
        self._learned_at = 0.0
        self._ending: Ending | None = None
        self.on_concluded: Callable[[StopReason], None] = lambda reason: None
        """Called on the event loop once nothing is left to save."""
        self.on_stopping: Callable[[], None] = lambda: None
        """Called on the event loop once somebody has asked for a stop."""
        self._recorder = RunRecorder(folder.path, spec.provenance.owner, self._progress)
        self._lines = _LogLines(self._recorder)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear this package's log in the meantime."""
        package = logging.getLogger("plugrl")
        package.addHandler(self._lines)
        try:
            yield
        finally:
            package.removeHandler(self._lines)

    def began(self, start: LoadedCheckpoint | None, step: int) -> None:
        """Take note of what the run goes on from, and at which step."""
        if start is None:
            self._recorder.event("started", step=step)
            return
        for skipped in start.skipped:
            self._recorder.event("damaged", step=step, path=_full(skipped.path), why=skipped.reason)
        if self._spec.run.resume:
            self._recorder.saved(Checkpoint(_full(start.path), start.step))
            self._recorder.event("resumed", step=step, **{"from": _full(start.path)})
        else:
            self._parent = _full(start.path)
            self._recorder.event("started", step=step, **{"from": self._parent})

    def watch(self, server: Server) -> None:
        """Follow ``server``, which does not run yet."""
        self._server = server
        server.loop.observer = _Observer(self._recorder, self._concluded, self._stopping)

    def recorded(self, saver: Saver) -> Saver:
        """The same saver, whose checkpoints and failures are events."""
        return _RecordedSaver(saver, self._recorder)

    def opened(self, url: str) -> None:
        """Begin to write: the folder is ours and the server listens."""
        owner = self._spec.provenance.owner
        flow_run_id = None if owner is None else owner.flow_run_id
        self._recorder.event("listening", url=url, flow_run_id=flow_run_id)
        self._recorder.open(self._record(), url)

    def learned(self, step: int) -> None:
        """Take note of a learn."""
        now = time.monotonic()
        if now - self._learned_at >= MIN_SECONDS_BETWEEN_LEARNS:
            self._learned_at = now
            self._recorder.event("learn", step=step, num_learns=self._progress().num_learns)

    def ended(self, reason: StopReason) -> None:
        """Take note of how the run ended."""
        if reason is StopReason.FINISHED:
            self._recorder.event("done")
            self._ending = Ending(RunState.DONE, None, 0)
        else:
            self._recorder.event("stopped")
            self._ending = Ending(RunState.STOPPED, "stopped on request", 0)

    def failed(self, error: BaseException) -> None:
        """Take note of what ended the run."""
        known = isinstance(error, PlugRLError)
        why = str(error) if known else f"{type(error).__name__}: {error}"
        if not known:
            self._recorder.log("".join(traceback.format_exception(error)).rstrip())
        self._recorder.event("failed", why=why)
        self._ending = Ending(RunState.FAILED, why, 1)

    def close(self) -> None:
        """Write the last words; to be called off the event loop."""
        assert self._ending is not None, "a run ends one way or the other"
        self._recorder.close(self._ending)

    def _progress(self) -> Progress:
        if self._server is None:
            return _UNBORN
        loop = self._server.loop
        return Progress(
            loop.phase.value,
            loop.algorithm.global_step,
            loop.algorithm.num_learns,
            len(loop.batcher.workers),
            collecting=loop.phase in {Phase.STARTING, Phase.COLLECT},
            stopping=loop.stopping or loop.phase in {Phase.STOPPING, Phase.FINISHED},
        )

    def _concluded(self, reason: StopReason) -> None:
        self.on_concluded(reason)

    def _stopping(self) -> None:
        self.on_stopping()

    def _record(self) -> RunRecord:
        spec = self._spec
        return RunRecord(
            exp_name=self._folder.name,
            policy=spec.policy,
            policy_variant=spec.policy_variant,
            algorithm=spec.algorithm,
            algorithm_variant=spec.algorithm_variant,
            env=spec.env,
            argv=public(spec.provenance.argv),
            config=_config(spec),
            seed=spec.run.seed,
            total_steps=getattr(spec.algorithm_config, "global_steps", None),
            parent_checkpoint=self._parent,
            versions=versions(*PACKAGES),
        )


class _LogLines(logging.Handler):
    """Hands log lines on."""

    def __init__(self, recorder: RunRecorder) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        """Take a log line."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 -- as all handlers: a wrong log line ends nothing
            self.handleError(record)
        else:
            self._recorder.log(line, urgent=record.levelno >= logging.WARNING)


class _Observer(LoopObserver):
    """What the loop tells."""

    def __init__(
        self,
        recorder: RunRecorder,
        on_concluded: Callable[[StopReason], None],
        on_stopping: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._on_concluded = on_concluded
        self._on_stopping = on_stopping

    def worker_joined(self, worker: Worker) -> None:
        self._recorder.event("worker_joined", worker=worker.id, address=worker.address)

    def worker_lost(self, worker: Worker) -> None:
        self._recorder.event(
            "worker_lost", worker=worker.id, address=worker.address, envs=worker.num_envs
        )

    def stopping(self) -> None:
        self._recorder.event("stopping")
        self._on_stopping()

    def concluded(self, reason: StopReason) -> None:
        self._on_concluded(reason)

    def leaving(self) -> None:
        why = "left at once on a second signal, without a last checkpoint"
        self._recorder.event("stopped", why=why)
        self._recorder.close(Ending(RunState.STOPPED, why, LEFT_AT_ONCE), timeout_s=1.0)


class _RecordedSaver:
    """A saver whose results are events."""

    def __init__(self, saver: Saver, recorder: RunRecorder) -> None:
        self._saver = saver
        self._recorder = recorder

    def snapshot(self) -> Callable[[], SavedCheckpoint]:
        write = self._saver.snapshot()

        def recorded() -> SavedCheckpoint:
            try:
                saved = write()
            except Exception as error:
                self._recorder.event("save_failed", why=f"{type(error).__name__}: {error}")
                raise
            self._recorder.saved(Checkpoint(_full(saved.path), saved.step))
            self._recorder.event(
                "saved",
                step=saved.step,
                path=_full(saved.path),
                bytes=saved.num_bytes,
                seconds=round(saved.seconds, 3),
            )
            return saved

        return recorded


def _full(path: Path) -> str:
    return str(path.absolute())


def _config(spec: RunSpec) -> dict[str, Any]:
    clients = spec.provenance.clients
    config: dict[str, Any] = plain(
        {
            "policy": spec.policy_config,
            "algo": spec.algorithm_config,
            "env": spec.env_config,
            "server": replace(spec.server, api_key=None),
            "run": spec.run,
            "track": spec.track,
            "clients": None if clients is None else {**clients, "api_key": None},
        }
    )
    return config
