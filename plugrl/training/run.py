"""The recipe of a run: configs -> seeds -> policy and algorithm -> what to go on from -> server.

Everything that a person can have asked wrongly is refused in ``build_run``, before a port is bound
or a folder is made.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plugrl.algorithms.algorithm import Algorithm
from plugrl.config.base import EnvSizes, PolicyConfig
from plugrl.errors import UsageError
from plugrl.policies.policy import Policy
from plugrl.registry import ALGORITHMS, POLICIES
from plugrl.server.algorithm import RunIdentity
from plugrl.server.loop import StopReason
from plugrl.server.server import Server
from plugrl.training import checkpoint
from plugrl.training.checkpoint import (
    CheckpointSaver,
    LoadedCheckpoint,
    Origin,
    Resume,
    Save,
    plain_config,
)
from plugrl.training.compatibility import (
    require_compatible,
    require_kind_of_actions,
    require_same_sizes,
    require_sizes_of_env,
)
from plugrl.training.device import require_device
from plugrl.training.learner import InProcessLearner
from plugrl.training.pace import Pace
from plugrl.training.recording import Recording
from plugrl.training.restore import require_steps_left, restore, starting_point
from plugrl.training.run_folder import RunFolder
from plugrl.training.seeding import seed_everything
from plugrl.training.spec import RunSpec
from plugrl.training.tracking.assembly import require_tracker, start_tracking
from plugrl.training.tracking.sink import TrackedRun
from plugrl.training.tracking.tracker import Tracker

OnListening = Callable[[str], None]
"""Called once with the server's URL."""
OnConcluded = Callable[[StopReason], None]
"""Called once the loop has ended and nothing is left to save."""
OnStopping = Callable[[], None]
"""Called once somebody has asked for a stop."""


def build_run(
    spec: RunSpec, *, save: Save = checkpoint.save, resume: Resume = checkpoint.load_newest
) -> "TrainingRun":
    """Make everything ready, and leave no trace if that fails.

    Args:
        spec: what a person chose.
        save: writes a checkpoint; replaced by callers that retry or record it.
        resume: finds the checkpoint to resume from; likewise.

    Raises:
        UsageError: the choices can't work, alone, together or with what is on disk.
        CheckpointError: the checkpoint to start from can't be used.
    """
    require_compatible(spec)
    require_kind_of_actions(spec)
    require_sizes_of_env(spec)
    require_tracker(spec.track)
    # Their modules are imported here, and torch with them where it matters to the run.
    for registry, uid in ((POLICIES, spec.policy), (ALGORITHMS, spec.algorithm)):
        registry.cls(uid)
    require_device(spec.policy_config.device, num_threads=spec.run.num_threads)
    folder = RunFolder(spec.run, algorithm=spec.algorithm, policy=spec.policy)
    recording = Recording(spec, folder)
    try:
        with recording.listening():
            start = starting_point(spec, folder.path, resume)
            if start is not None:
                require_same_sizes(spec, start.origin.sizes)
            origin = _origin(spec, start)
            seed_everything(spec.run.seed)
            algorithm = _build_algorithm(spec, origin.sizes)
            if start is not None:
                restore(spec, algorithm, start, origin)
                require_steps_left(spec, algorithm, start)
            recording.began(start, algorithm.global_step)
    except BaseException:
        folder.close()
        raise
    return TrainingRun(spec, folder, origin, algorithm, save=save, recording=recording)


class TrainingRun:
    """A run that is ready to serve."""

    def __init__(
        self,
        spec: RunSpec,
        folder: RunFolder,
        origin: Origin,
        algorithm: Algorithm[Any],
        *,
        save: Save,
        recording: Recording,
    ) -> None:
        """Assemble the server; ``build_run`` has made the parts."""
        self.algorithm = algorithm
        """What is trained."""
        self.run_dir: Path = folder.path
        """Where checkpoints and metrics go."""
        self._spec = spec
        self._folder = folder
        self._recording = recording
        self._start_step = algorithm.global_step
        self._total_steps: int | None = getattr(spec.algorithm_config, "global_steps", None)
        self._tracker: Tracker | None = None
        self._pace = Pace(self._start_step, self._total_steps)
        saver = CheckpointSaver(
            folder.path, origin, algorithm, keep_last=spec.run.keep_last, save=save
        )
        self.server = Server(
            algorithm,
            spec.server,
            learner=InProcessLearner(algorithm),
            saver=recording.recorded(saver) if spec.algorithm_config.makes_checkpoints else None,
            report=self._report,
            identity=self._identity(),
        )
        recording.watch(self.server)

    async def run(
        self,
        *,
        handle_signals: bool = True,
        on_listening: OnListening | None = None,
        on_concluded: OnConcluded | None = None,
        on_stopping: OnStopping | None = None,
    ) -> StopReason:
        """Serve until the algorithm is finished or somebody asks to stop.

        Args:
            handle_signals: whether SIGINT, SIGTERM and SIGHUP ask to stop.
            on_listening: called with the URL once clients can connect.
            on_concluded: called once the loop has ended and nothing is left to save.
            on_stopping: called once somebody has asked for a stop.

        Raises:
            UsageError: the port is taken.
            CheckpointError: the last checkpoint could not be written.
        """

        def opened(url: str) -> None:
            self._open(url)
            if on_listening is not None:
                on_listening(url)

        if on_concluded is not None:
            self._recording.on_concluded = on_concluded
        if on_stopping is not None:
            self._recording.on_stopping = on_stopping
        try:
            with self._recording.listening():
                reason = await self._serve(handle_signals, opened)
            self._recording.ended(reason)
            return reason
        except BaseException as error:
            self._recording.failed(error)
            raise
        finally:
            await asyncio.to_thread(self._recording.close)
            self._folder.close()

    async def _serve(self, handle_signals: bool, opened: OnListening) -> StopReason:  # noqa: FBT001
        try:
            return await self.server.run(handle_signals=handle_signals, on_listening=opened)
        finally:
            if self._tracker is not None:
                await asyncio.to_thread(self._tracker.close)

    def _open(self, url: str) -> None:
        # Only now, that the port is ours, may the folder come into being.
        self._folder.open()
        self._recording.opened(url)
        self._pace = Pace(self._start_step, self._total_steps)
        self._tracker = start_tracking(
            self._spec.track,
            TrackedRun(
                project=self._spec.track.project,
                exp_name=self._folder.name,
                run_dir=self.run_dir,
                start_step=self._start_step,
                total_steps=self._total_steps,
                resumed=self._spec.run.resume,
                mode=self._spec.track.mode,
                config=asdict(_origin(self._spec, None)),
            ),
        )

    def _report(self, metrics: dict[str, float], step: int) -> None:
        assert self._tracker is not None, "the server reports after it listens"
        self._tracker.report({**metrics, **self._pace.metrics(step)}, step)
        self._recording.learned(step)

    def _identity(self) -> RunIdentity:
        return RunIdentity(
            exp_name=self._folder.name,
            policy=self._spec.policy,
            policy_variant=self._spec.policy_variant,
            algorithm=self._spec.algorithm,
            algorithm_variant=self._spec.algorithm_variant,
            env=self._spec.env,
            total_steps=self._total_steps,
            run_dir=str(self.run_dir),
        )


def _origin(spec: RunSpec, start: LoadedCheckpoint | None) -> Origin:
    found = None if start is None else start.origin.sizes
    return Origin(
        policy=spec.policy,
        policy_variant=spec.policy_variant,
        policy_config=plain_config(spec.policy_config),
        algorithm=spec.algorithm,
        algorithm_variant=spec.algorithm_variant,
        algorithm_config=plain_config(spec.algorithm_config),
        sizes=spec.sizes or _configured_sizes(spec.policy_config) or found,
    )


def _configured_sizes(config: PolicyConfig) -> EnvSizes | None:
    obs_dim = getattr(config, "obs_dim", 0)
    if not obs_dim:
        return None
    return EnvSizes(
        obs_dim=obs_dim,
        action_dim=getattr(config, "action_dim", 0),
        num_choices=getattr(config, "num_choices", ()),
    )


def _build_algorithm(spec: RunSpec, sizes: EnvSizes | None) -> Algorithm[Any]:
    try:
        return _built(spec, sizes)
    except (MemoryError, RuntimeError) as error:
        # PyTorch has no class of its own for a CPU that is out of memory.
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        raise UsageError(
            "expected a policy and an algorithm that fit into memory, got sizes where "
            f"{str(error).partition(chr(10))[0] or 'they do not'}; choose smaller ones"
        ) from error


def _built(spec: RunSpec, sizes: EnvSizes | None) -> Algorithm[Any]:
    policy_class = POLICIES.cls(spec.policy)
    policy: Policy[Any] = policy_class(spec.policy_config, sizes, seed=spec.run.seed)
    # Another seed, so that what the algorithm draws does not repeat what the policy draws.
    algorithm_class = ALGORITHMS.cls(spec.algorithm)
    algorithm: Algorithm[Any] = algorithm_class(
        spec.algorithm_config, policy, seed=spec.run.seed + 1
    )
    return algorithm
