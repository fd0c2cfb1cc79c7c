"""What Prefect remembers of a run, asked over HTTP; its API may be down at any time."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plugrl.runs import prefect_api

TIMEOUT_S = 2.0
_MAX_TASKS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowSummary:
    """A flow run in one sentence."""

    sentence: str
    """Its state, attempts and retries; or why there is nothing to say."""
    answered: bool = True
    """Whether the API was there."""


def flow_summary(flow_run_id: str) -> FlowSummary:
    """Ask for one flow run; call it in a thread."""
    url = prefect_api.known_url()
    if url is None:
        return FlowSummary(sentence="its API is not running: plugrl ui starts it", answered=False)
    import httpx

    local = prefect_api.is_loopback(url)
    try:
        with httpx.Client(base_url=url, timeout=TIMEOUT_S, trust_env=not local) as client:
            found = client.get(f"/flow_runs/{flow_run_id}")
            if found.status_code == httpx.codes.NOT_FOUND:
                return FlowSummary(sentence="it does not know this run any more")
            flow = found.raise_for_status().json()
            attempts = _filtered(client, "flow_runs", {"parent_flow_run_id": _any(flow_run_id)})
            ids = [flow_run_id, *(str(attempt["id"]) for attempt in attempts)]
            tasks = _filtered(client, "task_runs", {"flow_run_id": {"any_": ids}})
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, KeyError, TypeError) as error:
        reason = type(error).__name__
        return FlowSummary(sentence=f"its API at {url} does not answer ({reason})", answered=False)
    return FlowSummary(sentence=_sentence(flow, attempts, tasks))


def _any(value: str) -> dict[str, list[str]]:
    return {"any_": [value]}


def _filtered(client: Any, kind: str, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    body = {kind: wanted, "limit": _MAX_TASKS, "sort": "EXPECTED_START_TIME_ASC"}
    answer = client.post(f"/{kind}/filter", json=body).raise_for_status().json()
    return [item for item in answer if isinstance(item, dict)]


def _sentence(
    flow: Mapping[str, Any], attempts: list[dict[str, Any]], tasks: list[dict[str, Any]]
) -> str:
    states = Counter(str(attempt.get("state_name")) for attempt in attempts)
    told = ", ".join(f"{number} {name}" for name, number in states.items())
    saved = sum("save" in str(task.get("name", "")) for task in tasks)
    retries = sum(max(int(task.get("run_count") or 0) - 1, 0) for task in tasks)
    parts = [str(flow.get("state_name"))]
    parts += [f"attempts: {told}"] if told else []
    parts += [f"{saved} saves"] if saved else []
    parts += [f"{retries} retries of tasks"] if retries else []
    return "; ".join(parts)
