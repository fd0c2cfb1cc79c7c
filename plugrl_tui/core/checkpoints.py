"""Checkpoints on disk: what a warm start can be made from, and whether it fits a draft."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from plugrl.errors import CheckpointDamagedError, CheckpointNotFoundError
from plugrl.training import step_folder
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.fields import specs

WARM_FIELD = "algo.policy_checkpoint_path"
"""The field that takes a step folder; an algorithm without it can't start warm."""
RESTORE_FIELD = "algo.restore"
_NOT_ARCHITECTURE = frozenset({"device", "log_std_init", "clip_obs"})
"""Fields of a policy that its weights don't depend on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointRow:
    """One line of the picker."""

    run: str
    path: Path
    step: int
    episode_return: float | None
    saved_at: float | None
    """Seconds since the epoch."""
    num_bytes: int
    refusal: str | None
    """Why the draft can't start from it; None where it can."""


def rows(run_dir: Path, draft: Draft) -> list[CheckpointRow]:
    """The checkpoints of a run, the newest first, each held against the draft."""
    return [
        CheckpointRow(
            run=run_dir.name,
            path=summary.path,
            step=summary.step,
            episode_return=summary.episode_return_mean,
            saved_at=_seconds(summary.saved_at),
            num_bytes=summary.num_bytes,
            refusal=summary.damage or _misfit(summary.path, draft),
        )
        for summary in reversed(list(step_folder.summaries(run_dir)))
    ]


def refusal(step_dir: Path, draft: Draft) -> str | None:
    """Why the draft can't start from a step folder; None where it can."""
    try:
        step_folder.require_step_folder(step_dir)
    except CheckpointNotFoundError as error:
        return str(error)
    return step_folder.damage(step_dir) or _misfit(step_dir, draft)


def newest_whole(run_dir: Path) -> Path | None:
    """The step folder that a resume goes on from."""
    for path in reversed(step_folder.step_dirs(run_dir)):
        if step_folder.damage(path) is None:
            return path
    return None


def _misfit(step_dir: Path, draft: Draft) -> str | None:
    try:
        origin = step_folder.read_step(step_dir).state["origin"]
        return next(_differences(origin, draft), None)
    except (CheckpointDamagedError, KeyError, TypeError, AttributeError) as error:
        return f"can't read its origin: {error}"


def _differences(origin: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    names = draft.names
    if WARM_FIELD not in draft.specs:
        yield f"{names.algorithm} can't start from a checkpoint"
    if origin["policy"] != names.policy:
        yield f"it is of policy {origin['policy']}, the draft has {names.policy}"
    whole = draft.specs.get(RESTORE_FIELD) and draft.value(RESTORE_FIELD) == "all"
    if whole and origin["algorithm"] != names.algorithm:
        yield (
            f"it is of algorithm {origin['algorithm']}, the draft has {names.algorithm}; "
            "restore only the model"
        )
    yield from _other_sizes(origin, draft)
    yield from _other_architecture(origin["policy_config"], draft)


def _other_sizes(origin: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    config = draft.verdict.configs.get("env")
    sizes, trained = None if config is None else config.sizes(), origin.get("sizes")
    policy = draft.verdict.configs.get("policy")
    if sizes is None or not trained or not hasattr(policy, "obs_dim"):
        return
    for field in ("obs_dim", "action_dim", "num_choices"):
        got, wanted = trained[field], getattr(sizes, field)
        if got != (list(wanted) if isinstance(wanted, tuple) else wanted):
            yield f"its env has {field} {got}, {draft.names.env} has {wanted}"


def _other_architecture(trained: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    policy = draft.verdict.configs.get("policy")
    if policy is None:
        return
    for spec in specs(policy):
        ours = json.loads(json.dumps(spec.default, default=str))
        if spec.name in _NOT_ARCHITECTURE or spec.name not in trained:
            continue
        if trained[spec.name] != ours:
            yield (
                f"it has policy.{spec.name} {spec.show(trained[spec.name])}, "
                f"the draft has {spec.show(spec.default)}"
            )


def _seconds(saved_at: str | None) -> float | None:
    try:
        return None if saved_at is None else datetime.fromisoformat(saved_at).timestamp()
    except ValueError:
        return None
