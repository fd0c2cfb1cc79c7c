"""What Prefect remembers of a run, or in one sentence; its API may be down at any time."""

from collections import Counter

from plugrl.errors import HistoryUnavailableError
from plugrl.runs import prefect_api
from plugrl.runs.prefect_history import FlowRunHistory, read_history

TIMEOUT_S = 2.0
"""Of each of the few calls."""


def flow_history(flow_run_id: str) -> FlowRunHistory | str:
    """One flow run with its attempts and tasks, or why there is none; call it in a thread."""
    url = prefect_api.known_url()
    if url is None:
        return "Prefect's API is not running: plugrl ui starts it"
    try:
        found = read_history([flow_run_id], url, timeout_s=TIMEOUT_S)
    except HistoryUnavailableError as error:
        return str(error)
    return found[0] if found else "Prefect does not know this run any more"


def flow_summary(flow_run_id: str) -> str:
    """The same in one sentence."""
    found = flow_history(flow_run_id)
    return found if isinstance(found, str) else _sentence(found)


def _sentence(run: FlowRunHistory) -> str:
    states = Counter(attempt.state for attempt in run.attempts)
    told = ", ".join(f"{number} {state}" for state, number in states.items())
    tasks = [task for each in (run, *run.attempts) for task in each.tasks]
    saved = sum("save" in task.name for task in tasks)
    retries = sum(max(task.runs - 1, 0) for task in tasks)
    parts = [run.state]
    parts += [f"attempts: {told}"] if told else []
    parts += [f"{saved} saves"] if saved else []
    parts += [f"{retries} retries of tasks"] if retries else []
    return "; ".join(parts)
