"""Checkpoints: an algorithm's whole state in a step folder, as data only."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from plugrl.algorithms.algorithm import Algorithm, TrainState
from plugrl.config.base import AlgorithmConfig, EnvSizes, PolicyConfig, as_dict
from plugrl.errors import (
    CheckpointDamagedError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
)
from plugrl.server.algorithm import SavedCheckpoint
from plugrl.training import step_folder
from plugrl.training.versions import versions

logger = logging.getLogger(__name__)

MODEL_FILE = "model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """What a run was made from; told apart by uid and variant."""

    policy: str
    policy_variant: str
    policy_config: Mapping[str, Any]
    """The config's fields as JSON."""
    algorithm: str
    algorithm_variant: str
    algorithm_config: Mapping[str, Any]
    sizes: EnvSizes | None = None
    """The env's sizes, where they were known."""


class SkippedCheckpoint(NamedTuple):
    """A checkpoint that can't be trusted."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """A checkpoint read back."""

    path: Path
    step: int
    """Frames learned from."""
    origin: Origin
    state: TrainState
    skipped: tuple[SkippedCheckpoint, ...] = ()
    """Newer ones that are damaged."""


def save(
    exp_dir: Path, origin: Origin, state: TrainState, metrics: Mapping[str, float]
) -> SavedCheckpoint:
    """Write one step folder, whole or not at all.

    Args:
        exp_dir: folder of the experiment; made if missing.
        origin: what the run was made from.
        state: what to remember.
        metrics: episode statistics at this moment; the best checkpoint is told by them.

    Raises:
        OSError: the disk is full or read-only; nothing of the attempt is left.
    """
    started_at = time.monotonic()
    step = int(state.counters["global_step"])
    files = {MODEL_FILE: _pack(state.model), OPTIMIZER_FILE: _pack(state.optimizer)}
    about = {
        "step": step,
        "num_learns": int(state.counters["num_learns"]),
        "counters": dict(state.counters),
        "metrics": dict(metrics),
        "origin": asdict(origin),
        "versions": versions("numpy", "torch"),
        "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    path = step_folder.write_step(exp_dir, step, files, about)
    num_bytes = sum(f.stat().st_size for f in path.iterdir())
    return SavedCheckpoint(path, step, num_bytes, time.monotonic() - started_at)


def load(step_dir: Path) -> LoadedCheckpoint:
    """Read and verify one step folder.

    Raises:
        CheckpointNotFoundError: ``step_dir`` is no step folder; says which there are, if any.
        CheckpointDamagedError: it can't be trusted.
    """
    step_folder.require_step_folder(step_dir)
    folder = step_folder.read_step(step_dir)
    try:
        step, counters = folder.state["step"], folder.state["counters"]
        if type(counters["global_step"]) is not int or counters["global_step"] != step:
            raise CheckpointDamagedError(
                f"expected counters of step {step}, got {counters['global_step']!r:.80}, "
                f"at {step_dir}"
            )
        return LoadedCheckpoint(
            path=step_dir,
            step=step,
            origin=_origin(folder.state["origin"]),
            state=TrainState(
                model=safetensors.load(folder.files[MODEL_FILE]),
                optimizer=safetensors.load(folder.files[OPTIMIZER_FILE]),
                counters=counters,
            ),
        )
    except (KeyError, TypeError, SafetensorError) as error:
        raise CheckpointDamagedError(f"can't use {step_dir}: {error!r}") from error


def load_newest(exp_dir: Path) -> LoadedCheckpoint:
    """The newest valid checkpoint of an experiment; damaged ones are named in a warning.

    Raises:
        CheckpointNotFoundError: there is none.
    """
    skipped: list[SkippedCheckpoint] = []
    for path in reversed(step_folder.step_dirs(exp_dir)):
        try:
            return replace(load(path), skipped=tuple(skipped))
        except (CheckpointDamagedError, CheckpointNotFoundError) as error:
            skipped.append(SkippedCheckpoint(path, str(error)))
            logger.warning("skipped the damaged checkpoint %s: %s", path, error)
    raise CheckpointNotFoundError(
        f"no valid checkpoint to resume in {exp_dir} (FileNotFoundError); start afresh with "
        "--overwrite in place of --resume, or check --checkpoint-base-dir and --exp-name"
    )


def plain_config(config: PolicyConfig | AlgorithmConfig) -> dict[str, Any]:
    """A config's fields as JSON."""
    fields: dict[str, Any] = _jsonable(as_dict(config))
    return fields


SAME = {
    "resume": ("policy", "policy_variant", "algorithm", "algorithm_variant"),
    "all": ("policy", "algorithm"),
    "model": ("policy",),
    "except-critic": ("policy",),
}
"""What must be the same as in the checkpoint, by how much of it is restored."""


def require_same_origin(loaded: LoadedCheckpoint, origin: Origin, how: str) -> None:
    """Refuse a checkpoint of another policy and, where it matters, of another algorithm.

    Args:
        loaded: the checkpoint to start from.
        origin: what this run is made from.
        how: a key of ``SAME``.

    Raises:
        CheckpointMismatchError: names both.
    """
    for part in SAME[how]:
        wanted, got = getattr(origin, part), getattr(loaded.origin, part)
        if wanted != got:
            raise CheckpointMismatchError(
                f"expected a checkpoint of {part.replace('_', ' ')} {wanted!r}, "
                f"got one of {got!r}, at {loaded.path}"
            )


class CheckpointSaver:
    """Makes the run's checkpoints: a copy under the model lock, then a write off to the side."""

    def __init__(
        self,
        exp_dir: Path,
        origin: Origin,
        algorithm: Algorithm[Any],
        *,
        keep_last: int,
        save: "Save" = save,
    ) -> None:
        """Save ``algorithm`` under ``exp_dir``, keeping the ``keep_last`` newest and the best."""
        self._exp_dir = exp_dir
        self._origin = origin
        self._algorithm = algorithm
        self._keep_last = keep_last
        self._save = save

    def snapshot(self) -> Callable[[], SavedCheckpoint]:
        """Copy the state; returns what writes the copy to disk."""
        return partial(self._write, self._algorithm.state(), self._algorithm.episodes.metrics())

    def _write(self, state: TrainState, metrics: Mapping[str, float]) -> SavedCheckpoint:
        saved = self._save(self._exp_dir, self._origin, state, metrics)
        step_folder.prune(self._exp_dir, keep_last=self._keep_last)
        return saved


Save = Callable[[Path, Origin, TrainState, Mapping[str, float]], SavedCheckpoint]
"""The signature of ``save``."""

Resume = Callable[[Path], LoadedCheckpoint | None]
"""As ``load_newest``, which raises where there is none; None starts afresh in the same folder."""


def _pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    packed: bytes = safetensors.save({n: np.asarray(a, order="C") for n, a in arrays.items()})
    return packed


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _origin(plain: Mapping[str, Any]) -> Origin:
    sizes = plain["sizes"]
    if sizes is not None:
        sizes = EnvSizes(**{**sizes, "num_choices": tuple(sizes["num_choices"])})
    return Origin(**{**plain, "sizes": sizes})
