"""Step folders: written whole or not at all, verified, listed and pruned; knows no torch.

    <experiment>/<step>/model.safetensors
                        optimizer.safetensors
                        state.json             what it is, and the hashes of all three

A folder is filled under a temporary name, synced and renamed, so that one with a plain number for
a name is whole, even after ``kill -9`` or a full disk.
"""

import hashlib
import json
import math
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugrl.errors import CheckpointDamagedError, CheckpointNotFoundError

FORMAT = 1
STATE_FILE = "state.json"
_PARTS = {"step": int, "saved_at": str, "metrics": dict, "sha256": dict}
"""Entries of ``state.json`` that are read here, and their types."""
_STEP_END = 2**63
_STEP_NAME = re.compile(r"0|[1-9][0-9]*")
TEMPORARY_PREFIXES = (".writing-", ".deleting-")


@dataclass(frozen=True, slots=True)
class StepFolder:
    """A verified step folder's contents."""

    path: Path
    state: dict[str, Any]
    """What ``state.json`` holds, without the hashes."""
    files: dict[str, bytes]
    """The other files, by name."""


@dataclass(frozen=True, slots=True)
class StepSummary:
    """One line of a list of step folders."""

    path: Path
    step: int
    num_bytes: int
    saved_at: str | None
    """ISO 8601 in UTC; None where ``state.json`` can't be read."""
    episode_return_mean: float | None
    """Of the last episodes before the save, where any had ended."""
    damage: str | None
    """Why the folder can't be used; None when it is whole."""


def write_step(
    exp_dir: Path, step: int, files: Mapping[str, bytes], state: Mapping[str, Any]
) -> Path:
    """Write ``exp_dir/step``, whole or not at all; a valid folder of that step is kept as it is.

    Args:
        exp_dir: folder of the experiment; made if missing.
        step: the name of the folder.
        files: contents by file name.
        state: JSON for ``state.json``, to which the hashes are added.

    Returns:
        The step folder.

    Raises:
        OSError: the disk is full or read-only; nothing of the attempt is left.
    """
    target = exp_dir / str(step)
    if target.exists():
        if damage(target) is None:
            return target
        remove(target)
    exp_dir.mkdir(parents=True, exist_ok=True)
    temporary = exp_dir / f"{TEMPORARY_PREFIXES[0]}{step}-{os.getpid()}-{time.monotonic_ns()}"
    try:
        temporary.mkdir()
        for name, content in {**files, STATE_FILE: _state_json(files, state)}.items():
            _write_synced(temporary / name, content)
        _sync_folder(temporary)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_folder(exp_dir)
    return target


def read_step(step_dir: Path) -> StepFolder:
    """Read and verify a step folder.

    Raises:
        CheckpointDamagedError: something is missing, unreadable or not what was written.
    """
    state, hashes = _read_state(step_dir)
    files = {}
    for name, expected in hashes.items():
        content = _read(step_dir / name)
        if _hash(content) != expected:
            raise CheckpointDamagedError(
                f"expected sha256 {expected}, got {_hash(content)}, at {step_dir / name}"
            )
        files[name] = content
    return StepFolder(step_dir, state, files)


def require_step_folder(path: Path) -> None:
    """Refuse what is no step folder, whole or not.

    Raises:
        CheckpointNotFoundError: says which steps there are, where it is an experiment's folder.
    """
    if (path / STATE_FILE).exists():
        return
    steps = valid_steps(path)
    if not steps and (beside := valid_steps(path.parent)):
        raise CheckpointNotFoundError(
            f"no checkpoint at {path}, but there are steps "
            f"{', '.join(map(str, beside))}: choose one, such as {path.parent / str(beside[-1])}"
        )
    if not steps:
        raise CheckpointNotFoundError(
            f"no checkpoint at {path}; expected a folder with {STATE_FILE}"
        )
    raise CheckpointNotFoundError(
        f"expected a step folder, got the experiment folder {path}, which has steps "
        f"{', '.join(map(str, steps))}: choose one, such as {path / str(steps[-1])}"
    )


def damage(step_dir: Path) -> str | None:
    """Why ``step_dir`` can't be used; None when it is whole."""
    try:
        read_step(step_dir)
    except CheckpointDamagedError as error:
        return str(error)
    return None


def step_dirs(exp_dir: Path) -> list[Path]:
    """All step folders of an experiment, whole or not, in the order of their steps."""
    if not exp_dir.is_dir():
        return []
    found = [p for p in exp_dir.iterdir() if _STEP_NAME.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=lambda p: int(p.name))


def valid_steps(exp_dir: Path) -> list[int]:
    """The steps whose folders are whole, ascending."""
    return [int(path.name) for path in step_dirs(exp_dir) if damage(path) is None]


def summaries(exp_dir: Path) -> Iterator[StepSummary]:
    """One summary a step folder, in the order of their steps."""
    yield from map(summary, step_dirs(exp_dir))


def summary(step_dir: Path) -> StepSummary:
    """What a list says of a step folder, whole or not."""
    saved_at, episode_return = _glance(step_dir)
    return StepSummary(
        path=step_dir,
        step=int(step_dir.name),
        num_bytes=sum(f.stat().st_size for f in step_dir.iterdir() if f.is_file()),
        saved_at=saved_at,
        episode_return_mean=episode_return,
        damage=damage(step_dir),
    )


def is_step_folder(path: Path) -> bool:
    """Whether it looks like one, whole or not."""
    return _STEP_NAME.fullmatch(path.name) is not None and (path / STATE_FILE).exists()


def clean(exp_dir: Path) -> None:
    """Remove what writes and removals left behind that were killed half-way."""
    if exp_dir.is_dir():
        for path in exp_dir.iterdir():
            if path.name.startswith(TEMPORARY_PREFIXES):
                shutil.rmtree(path, ignore_errors=True)


def prune(exp_dir: Path, *, keep_last: int) -> list[Path]:
    """Remove all step folders but the last ``keep_last`` and the best.

    The best has the highest mean episode return, the latest of equals. Folders whose
    ``state.json`` can't be read are neither counted nor removed: a person may want to look.

    Returns:
        The folders that are gone.
    """
    glances = {path: _glance(path) for path in step_dirs(exp_dir)}
    readable = [path for path, (saved_at, _) in glances.items() if saved_at is not None]
    scores = {path: score for path in readable if (score := glances[path][1]) is not None}
    best = max(scores, key=lambda path: (scores[path], int(path.name)), default=None)
    gone = [path for path in readable[:-keep_last] if path != best]
    for path in gone:
        remove(path)
    return gone


def remove(step_dir: Path) -> None:
    """Remove a step folder, which is whole or gone at every moment."""
    doomed = step_dir.with_name(f"{TEMPORARY_PREFIXES[1]}{step_dir.name}-{time.monotonic_ns()}")
    step_dir.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _glance(step_dir: Path) -> tuple[str | None, float | None]:
    try:
        state, _ = _read_state(step_dir)
    except CheckpointDamagedError:
        return None, None
    episode_return = state["metrics"].get("rollout/episode_return_mean")
    known = isinstance(episode_return, float) and math.isfinite(episode_return)
    return state["saved_at"], episode_return if known else None


def _state_json(files: Mapping[str, bytes], state: Mapping[str, Any]) -> bytes:
    body = {"format": FORMAT, **state, "sha256": {n: _hash(c) for n, c in files.items()}}
    return _canonical(body | {"state_sha256": _hash(_canonical(body))})


def _read_state(step_dir: Path) -> tuple[dict[str, Any], dict[str, str]]:
    path = step_dir / STATE_FILE
    try:
        state = json.loads(_read(path))
        expected = state.pop("state_sha256")
        version = state["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointDamagedError(
            f"expected a checkpoint's JSON, got {error}, at {path}"
        ) from error
    if version != FORMAT:
        raise CheckpointDamagedError(f"expected format {FORMAT}, got {version!r}, at {path}")
    actual = _hash(_canonical(state))
    if actual != expected:
        raise CheckpointDamagedError(f"expected sha256 {expected}, got {actual}, at {path}")
    _require_parts(state, path)
    return state, state.pop("sha256")


def _require_parts(state: Mapping[str, Any], path: Path) -> None:
    """Refuse what was not written by ``write_step``: hashes prove no more than that it is whole."""
    for name, kind in _PARTS.items():
        if type(state.get(name)) is not kind:
            raise CheckpointDamagedError(
                f"expected a {kind.__name__}, got {state.get(name)!r:.80}, at {path}: {name}"
            )
    if not 0 <= state["step"] < _STEP_END:
        raise CheckpointDamagedError(
            f"expected a step from 0, got {state['step']!r:.80}, at {path}: step"
        )
    if strange := [name for name in state["sha256"] if Path(name).name != name]:
        raise CheckpointDamagedError(f"expected plain file names, got {strange!r:.80}, at {path}")


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, indent=1, sort_keys=True).encode()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointDamagedError(f"can't read {path}: {error.strerror}") from error


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
