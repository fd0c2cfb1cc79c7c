"""Without a screen: the runs as a table or as JSON, and one run as lines of text."""

import asyncio
import contextlib
import json
import sys
import time
from typing import Any

from plugrl.cli.table import harmless
from plugrl.runs.catalog import FoundRun, find_runs
from plugrl.runs.liveness import observed_state
from plugrl.runs.records import RunState
from plugrl_tui.core import format as fmt
from plugrl_tui.core.attach import attach
from plugrl_tui.core.curves import RETURN
from plugrl_tui.core.feed import Access
from plugrl_tui.core.model import RunModel

_LOOK_S = 0.5
_HEADINGS = ("state", "run", "policy/algorithm", "step", "url")


def write(text: str) -> None:
    """Write to standard output, now."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def list_runs(*, as_json: bool) -> int:
    """Write all runs that this machine knows of; returns the exit code."""
    runs, now = find_runs(), time.time()
    for skipped in runs.skipped:
        sys.stderr.write(f"left out: {skipped.reason}\n")
    if as_json:
        write(json.dumps([_as_json(run, now) for run in runs.found], indent=1))
        return 0
    if not runs.found:
        write("no runs yet; plugrl-tui starts one, and so does plugrl launch")
        return 0
    rows = [_HEADINGS, *(_as_row(run, now) for run in runs.found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        write(harmless("  ".join(cells).rstrip()))
    return 0


async def watch(target: str, access: Access, *, every_s: float) -> int:
    """Write how a run goes until it is over; returns the exit code.

    Args:
        target: its name, its folder, or its server's URL.
        access: what the server wants to know.
        every_s: seconds between two lines.

    Raises:
        UsageError: there is no such run.
    """
    model, feed = attach(target, access)
    feeding = asyncio.create_task(feed.run(model))
    try:
        await _follow(model, feeding, every_s)
    finally:
        feeding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await feeding
    return int(model.verdict().state in {RunState.FAILED, RunState.LOST})


async def _follow(model: RunModel, feeding: "asyncio.Task[None]", every_s: float) -> None:
    written, logged, due = "", 0, 0.0
    while True:
        await asyncio.sleep(_LOOK_S)
        new = min(model.log_total - logged, len(model.log))
        for line in list(model.log)[len(model.log) - new :]:
            write(harmless(f"{fmt.clock(line.time)} {line.level} {line.text}"))
        logged = model.log_total
        over = feeding.done() or model.is_over
        now = time.monotonic()
        if (text := line_of(model)) != written and (over or now >= due):
            write(harmless(text))
            written, due = text, now + every_s
        if over:
            return


def line_of(model: RunModel) -> str:
    """One line that says how a run is."""
    verdict = model.verdict()
    parts = [model.title, verdict.state.value]
    if model.step is not None:
        parts.append(f"step {fmt.progress(model.step, model.total_steps)}")
    latest = model.latest(RETURN)
    if latest is not None:
        parts.append(f"return {fmt.value(latest)}")
    if model.snapshot is not None and not model.is_over:
        parts.append(f"workers {len(model.snapshot.workers)}")
        parts.append(f"{fmt.count(model.steps_per_second)} steps/s")
    if verdict.reason:
        parts.append(verdict.reason)
    return " | ".join(parts)


def _as_row(run: FoundRun, now: float) -> tuple[str, ...]:
    record, status = run.record, run.status
    return (
        _state(run, now),
        record.exp_name,
        f"{record.policy}/{record.algorithm}",
        fmt.MISSING if status is None else fmt.progress(status.step, status.total_steps),
        (status.url if status else None) or "",
    )


def _as_json(run: FoundRun, now: float) -> dict[str, Any]:
    record, status = run.record, run.status
    return {
        "name": record.exp_name,
        "path": str(run.path),
        "state": _state(run, now),
        "reason": status.reason if status else None,
        "policy": record.policy,
        "policy_variant": record.policy_variant,
        "algorithm": record.algorithm,
        "algorithm_variant": record.algorithm_variant,
        "env": record.env,
        "step": status.step if status else None,
        "total_steps": record.total_steps,
        "url": status.url if status else None,
        "checkpoint": status.last_checkpoint.path if status and status.last_checkpoint else None,
        "parent_checkpoint": record.parent_checkpoint,
        "created_at": record.created_at,
        "updated_at": status.updated_at if status else None,
    }


def _state(run: FoundRun, now: float) -> str:
    return observed_state(run.status, now).value
