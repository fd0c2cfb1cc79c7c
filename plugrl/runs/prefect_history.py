"""What Prefect remembers of a run: flow runs, their attempts, tasks and artifacts, over HTTP."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from plugrl.errors import HistoryUnavailableError, RunRecordError
from plugrl.runs import prefect_api, records
from plugrl.runs.prefect_client import MAX_ROWS, PrefectClient

TIMEOUT_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskHistory:
    """A task run."""

    name: str
    state: str
    message: str | None
    """Why it is in that state, where Prefect says so."""
    started_at: float | None
    """Seconds since the epoch."""
    seconds: float | None
    runs: int
    """How often it was tried."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactHistory:
    """An artifact: a table, a page, a bar of progress or a link."""

    key: str | None
    kind: str | None
    description: str | None
    data: Any
    created_at: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowRunHistory:
    """A flow run: a whole run of ours, or below it one attempt."""

    id: str
    name: str
    state: str
    message: str | None
    started_at: float | None
    seconds: float | None
    url: str
    """Its page."""
    tags: tuple[str, ...] = ()
    tasks: tuple[TaskHistory, ...] = ()
    """The newest last; of very many not all."""
    num_tasks: int = 0
    """How many there are."""
    artifacts: tuple[ArtifactHistory, ...] = ()
    """Likewise."""
    attempts: tuple["FlowRunHistory", ...] = ()


def flow_run_ids(run_dir: Path) -> list[str]:
    """The flow runs that a run's folder names, in order; a run that was resumed has several.

    Raises:
        OSError: what happened to it can't be read.
    """
    path = run_dir / records.EVENTS_FILE
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    # Of many events few are of servers that begin.
    events = [records.parse_event(line) for line in text.splitlines() if '"flow_run_id"' in line]
    named = [event.details.get("flow_run_id") for event in events if event is not None]
    with contextlib.suppress(FileNotFoundError, RunRecordError):
        named.append(records.read_status(run_dir).flow_run_id)
    return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def read_history(
    ids: Sequence[str], api_url: str, *, timeout_s: float = TIMEOUT_S
) -> list[FlowRunHistory]:
    """What Prefect knows of these flow runs and of what is below them, in order of their start.

    Args:
        ids: flow runs of supervisors; those that Prefect does not know are left out.
        api_url: where Prefect's API is.
        timeout_s: how long each of the few calls may take.

    Raises:
        HistoryUnavailableError: the API is away, or answers what we can't read.
    """
    if not ids:
        return []
    with PrefectClient(api_url, timeout_s=timeout_s) as client:
        try:
            return _read(client, list(ids))
        except (LookupError, TypeError, ValueError) as error:
            raise HistoryUnavailableError(
                f"expected rows as of Prefect 3, got {type(error).__name__}: {error}, at {api_url}"
            ) from error


class _Rows(NamedTuple):
    """What is below some flow runs, the newest first; of very many not all."""

    tasks: list[dict[str, Any]]
    num_tasks: dict[str, int]
    """By flow run; empty where all tasks are here, to be counted."""
    artifacts: list[dict[str, Any]]


def _read(client: PrefectClient, ids: list[str]) -> list[FlowRunHistory]:
    parents = _flow_runs(client, {"id": {"any_": ids}})
    known = [run["id"] for run in parents]
    if not known:
        return []
    children = _flow_runs(client, {"parent_flow_run_id": {"any_": known}})
    everybody = {"id": {"any_": known + [run["id"] for run in children]}}
    tasks = client.rows("task_runs", flow_runs=everybody, sort="EXPECTED_START_TIME_DESC")
    to_count = parents + children if len(tasks) == MAX_ROWS else []
    rows = _Rows(
        tasks=tasks,
        num_tasks={run["id"]: _num_tasks(client, run["id"]) for run in to_count},
        artifacts=client.rows("artifacts", flow_runs=everybody, sort="CREATED_DESC"),
    )
    # An attempt hangs from a task run of the supervisor's flow run.
    links = client.rows(
        "task_runs", task_runs={"id": {"any_": [run["parent_task_run_id"] for run in children]}}
    )
    owner_of = {task["id"]: task["flow_run_id"] for task in links}
    below: dict[str, list[FlowRunHistory]] = {}
    for run in children:
        attempt = _flow_run(run, rows, client.api_url)
        below.setdefault(owner_of[run["parent_task_run_id"]], []).append(attempt)
    return [_flow_run(run, rows, client.api_url, below.get(run["id"], ())) for run in parents]


def _flow_runs(client: PrefectClient, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    runs = client.rows("flow_runs", flow_runs=wanted, sort="EXPECTED_START_TIME_DESC")
    return runs[::-1]


def _num_tasks(client: PrefectClient, flow_run_id: str) -> int:
    return client.count("task_runs", flow_runs={"id": {"any_": [flow_run_id]}})


def _flow_run(
    run: dict[str, Any], rows: _Rows, api_url: str, attempts: Sequence[FlowRunHistory] = ()
) -> FlowRunHistory:
    own = run["id"]
    tasks = tuple(_task(task) for task in reversed(rows.tasks) if task["flow_run_id"] == own)
    artifacts = (one for one in reversed(rows.artifacts) if one["flow_run_id"] == own)
    return FlowRunHistory(
        id=own,
        name=run["name"],
        state=run["state_name"] or "Unknown",
        message=(run["state"] or {}).get("message"),
        started_at=_epoch(run["start_time"]),
        seconds=run["estimated_run_time"],
        url=prefect_api.flow_run_page(api_url, own),
        tags=tuple(run["tags"]),
        tasks=tasks,
        num_tasks=rows.num_tasks.get(own, len(tasks)),
        artifacts=tuple(map(_artifact, artifacts)),
        attempts=tuple(attempts),
    )


def _task(task: dict[str, Any]) -> TaskHistory:
    return TaskHistory(
        name=task["name"],
        state=task["state_name"] or "Unknown",
        message=(task["state"] or {}).get("message"),
        started_at=_epoch(task["start_time"]),
        seconds=task["estimated_run_time"],
        runs=task["run_count"],
    )


def _artifact(artifact: dict[str, Any]) -> ArtifactHistory:
    return ArtifactHistory(
        key=artifact["key"],
        kind=artifact["type"],
        description=artifact["description"],
        data=artifact["data"],
        created_at=_epoch(artifact["created"]),
    )


def _epoch(moment: str | None) -> float | None:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()
