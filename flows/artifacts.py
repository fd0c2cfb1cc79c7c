"""What Prefect's UI shows of a run beside its states: progress, checkpoints, the result, links.

Every call is best effort with a limit, as all that is told to Prefect.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from flows.attempts import tried
from plugrl.cli.supervision import Ending
from plugrl.errors import RunRecordError
from plugrl.runs.records import read_run, read_status
from plugrl.training.step_folder import summaries

logger = logging.getLogger(__name__)

PROGRESS_S = 5.0
"""Seconds between two looks at the run's step."""
TIMEOUT_S = 2.0
"""How long one artifact may take."""


@contextlib.asynccontextmanager
async def progress(run_dir: Path) -> AsyncIterator[None]:
    """Keep a bar of the run's steps up to date meanwhile."""
    following = asyncio.create_task(_follow(run_dir))
    try:
        yield
    finally:
        following.cancel()


async def checkpoints(run_dir: Path) -> None:
    """A table of the checkpoints that the run leaves."""
    try:
        rows = await asyncio.to_thread(_checkpoint_rows, run_dir)
    except OSError as error:
        logger.warning("Prefect shows no checkpoints, they can't be read: %s", error)
        return
    await tried(
        "show the checkpoints",
        acreate_table_artifact(rows, key="checkpoints", description=f"in {run_dir}"),
        TIMEOUT_S,
    )


async def result(run_dir: Path, ending: Ending) -> None:
    """A page that says how it ended, and where everything is."""
    text = await asyncio.to_thread(_report, run_dir, ending)
    await tried("show the result", acreate_markdown_artifact(text, key="result"), TIMEOUT_S)


async def evaluation(run_dir: Path, step_dir: str) -> None:
    """A table of what an evaluation measured."""
    rows = await asyncio.to_thread(_last_metrics, run_dir)
    await tried(
        "show the evaluation",
        acreate_table_artifact(rows, key="evaluation", description=f"of {step_dir}"),
        TIMEOUT_S,
    )


def percentage(run_dir: Path) -> float | None:
    """How much of the run is done; None where nobody knows."""
    try:
        status = read_status(run_dir)
    except (OSError, RunRecordError):
        return None
    return 100.0 * min(status.step / status.total_steps, 1.0) if status.total_steps else None


async def _follow(run_dir: Path) -> None:
    shown: float | None = None
    artifact_id = None
    while True:
        await asyncio.sleep(PROGRESS_S)
        now = await asyncio.to_thread(percentage, run_dir)
        if now is None or now == shown:
            continue
        if artifact_id is None:
            artifact_id = await tried(
                "show the progress", acreate_progress_artifact(now, key="progress"), TIMEOUT_S
            )
        else:
            await tried("show the progress", aupdate_progress_artifact(artifact_id, now), TIMEOUT_S)
        shown = now


def _checkpoint_rows(run_dir: Path) -> list[dict[str, Any]]:
    return [
        {
            "step": summary.step,
            "return": summary.episode_return_mean,
            "saved at": summary.saved_at,
            "KiB": round(summary.num_bytes / 1024, 1),
            "valid": summary.damage is None,
            "folder": str(summary.path),
        }
        for summary in summaries(run_dir)
    ]


def _last_metrics(run_dir: Path) -> list[dict[str, Any]]:
    with contextlib.suppress(OSError, ValueError, IndexError, AttributeError):
        last = json.loads((run_dir / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
        return [{"metric": n, "value": v} for n, v in last.items() if n.startswith("eval/")]
    return []


def _report(run_dir: Path, ending: Ending) -> str:
    lines = [
        f"# {run_dir.name}: {ending.outcome}",
        *([ending.reason] if ending.reason else []),
        "| | |\n|---|---|\n"
        + "\n".join(f"| {name} | {value} |" for name, value in _facts(run_dir)),
    ]
    return "\n\n".join(lines)


def _facts(run_dir: Path) -> list[tuple[str, str]]:
    facts = [("folder", f"`{run_dir.absolute()}`")]
    with contextlib.suppress(OSError, RunRecordError):
        status = read_status(run_dir)
        total = "" if status.total_steps is None else f" of {status.total_steps:,}"
        facts += [
            ("steps", f"{status.step:,}{total}"),
            ("learns", f"{status.num_learns:,}"),
            ("attempts", f"{status.attempt}"),
        ]
        if status.last_checkpoint is not None:
            facts += [("last checkpoint", f"`{status.last_checkpoint.path}`")]
    with contextlib.suppress(OSError, RunRecordError):
        facts += [("command", f"`{' '.join(read_run(run_dir).argv)}`")]
    return facts
