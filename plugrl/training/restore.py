"""What a run goes on from: its own newest checkpoint, or another run's."""

import logging
from pathlib import Path
from typing import Any

from plugrl.algorithms.algorithm import Algorithm
from plugrl.errors import CheckpointDamagedError, UsageError
from plugrl.training import checkpoint
from plugrl.training.checkpoint import LoadedCheckpoint, Origin, Resume
from plugrl.training.spec import RunSpec

logger = logging.getLogger(__name__)


def starting_point(spec: RunSpec, exp_dir: Path, resume: Resume) -> LoadedCheckpoint | None:
    """The checkpoint to start from; None starts afresh.

    Args:
        spec: ``run.resume`` goes before the algorithm's ``policy_checkpoint_path``.
        exp_dir: the run's own folder.
        resume: finds the newest checkpoint in it; may find that a fresh start is due.

    Raises:
        CheckpointNotFoundError: there is none where one was asked for.
        CheckpointDamagedError: the one asked for can't be trusted.
    """
    if spec.run.resume:
        return resume(exp_dir)
    path: Path | None = getattr(spec.algorithm_config, "policy_checkpoint_path", None)
    return None if path is None else checkpoint.load(path)


def restore(
    spec: RunSpec, algorithm: Algorithm[Any], start: LoadedCheckpoint, origin: Origin
) -> None:
    """Have ``algorithm`` take as much of ``start`` as ``spec`` asks for.

    Raises:
        CheckpointMismatchError: ``start`` is of another origin or architecture.
        CheckpointDamagedError: ``start`` holds what ``algorithm`` can't take.
    """
    how = _how_much(spec)
    checkpoint.require_same_origin(start, origin, how)
    if how in ("resume", "all"):
        _load_all(algorithm, start)
        logger.info("restored step %d from %s (%s)", start.step, start.path, how)
        return
    without = "critic." if how == "except-critic" else None
    algorithm.load_model(start.state.model, without=without)
    what = "the model" if without is None else "the model but its critic"
    logger.info("took %s of step %d, %s; steps count from 0", what, start.step, start.path)


def require_steps_left(spec: RunSpec, algorithm: Algorithm[Any], start: LoadedCheckpoint) -> None:
    """Refuse a warm start that would have nothing to train; a finished run is resumed in peace.

    Raises:
        UsageError: ``start`` has all the steps that are asked for.
    """
    steps = getattr(spec.algorithm_config, "global_steps", None)
    if spec.run.resume or steps is None or not algorithm.should_stop():
        return
    raise UsageError(
        f"expected global_steps above the step of the checkpoint, {start.step}, got {steps}; "
        "choose a larger --algo.global-steps, or --algo.restore model, which counts from 0"
    )


def _load_all(algorithm: Algorithm[Any], start: LoadedCheckpoint) -> None:
    try:
        algorithm.load_state(start.state)
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        # The hashes are right: somebody wrote this who is no algorithm of this kind and version.
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise CheckpointDamagedError(
            f"expected the state of a {type(algorithm).__name__}, got one that it can't take "
            f"({reason}), at {start.path}"
        ) from error


def _how_much(spec: RunSpec) -> str:
    if spec.run.resume:
        return "resume"
    # An algorithm without the choice, such as an evaluation, wants the weights alone.
    return str(getattr(spec.algorithm_config, "restore", "model"))
