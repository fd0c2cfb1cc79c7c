"""Flow runs that Prefect thinks alive, of runs that have ended while it was away."""

import logging
from collections.abc import Iterable
from typing import Any

from plugrl.runs.catalog import FoundRun
from plugrl.runs.liveness import owner_lives
from plugrl.runs.prefect_client import PrefectClient
from plugrl.runs.prefect_history import flow_run_ids
from plugrl.runs.records import RunState, RunStatus

logger = logging.getLogger(__name__)

FLOWS = ("train", "serve", "evaluate")
CALL_TIMEOUT_S = 2.0
LIVE = ("RUNNING", "PENDING", "CANCELLING")
FINAL = {RunState.DONE: "COMPLETED", RunState.STOPPED: "CANCELLED", RunState.FAILED: "CRASHED"}


def settle_flow_runs(api_url: str, runs: Iterable[FoundRun]) -> tuple[str, ...]:
    """Give each straggler the state of its run; returns their ids.

    Flow runs that no run of ours names are left alone: they may be of another machine.

    Raises:
        HistoryUnavailableError: the API is away.
    """
    with PrefectClient(api_url, timeout_s=CALL_TIMEOUT_S) as client:
        live = client.rows(
            "flow_runs",
            flows={"name": {"any_": FLOWS}},
            flow_runs={"state": {"type": {"any_": LIVE}}},
        )
        if not live:
            return ()
        supervisors = _supervisors(client, live)
        named = {name: run for run in runs for name in flow_run_ids(run.path)}
        settled = []
        for flow_run in live:
            supervisor = supervisors.get(flow_run["id"], flow_run["id"])
            run = named.get(supervisor)
            if run is None or run.status is None or _is_told_by_itself(run.status, supervisor):
                continue
            state, message = _ending(run.status, supervisor)
            client.set_state(flow_run["id"], state, message)
            settled.append(flow_run["id"])
        return tuple(settled)


def _is_told_by_itself(status: RunStatus, supervisor: str) -> bool:
    """Whether the process of that flow run is there, and will tell Prefect how it ends."""
    if status.flow_run_id != supervisor:
        return False
    return not status.state.final or owner_lives(status)


def _supervisors(client: PrefectClient, live: list[dict[str, Any]]) -> dict[str, str]:
    """From each attempt to the flow run above it."""
    links = {run["parent_task_run_id"]: run["id"] for run in live if run["parent_task_run_id"]}
    if not links:
        return {}
    tasks = client.rows("task_runs", task_runs={"id": {"any_": list(links)}})
    return {links[task["id"]]: task["flow_run_id"] for task in tasks}


def _ending(status: RunStatus, supervisor: str) -> tuple[str, str]:
    if status.flow_run_id != supervisor:
        return "CRASHED", "its process is gone; the run went on under another flow run"
    return FINAL[status.state], status.reason or "the run had ended before Prefect heard of it"
