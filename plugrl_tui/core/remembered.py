"""Runs that only Prefect remembers: their folder is deleted, or on another machine."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from plugrl.cli.table import harmless
from plugrl.errors import HistoryUnavailableError, RunRecordError
from plugrl.runs import prefect_api
from plugrl.runs.catalog import FoundRun
from plugrl.runs.files import read_json, write_json
from plugrl.runs.home import home
from plugrl.runs.prefect_client import PrefectClient
from plugrl.runs.prefect_history import FlowRunHistory, flow_run_ids
from plugrl.runs.records import EVENTS_FILE, STATUS_FILE, RunRecord, RunState
from plugrl_tui.core.history import RunRow
from plugrl_tui.core.prefect_link import TIMEOUT_S, flow_history

FLOW = "train"
STARTING_S = 120.0
"""A flow run that goes on has so long to name itself in a folder of ours."""
NO_FOLDER = "its folder was deleted, is on another machine, or was never made"
WHERE = "prefect"
"""What the filter ``where:`` calls these runs."""
_STATES: Mapping[str, RunState] = {
    "SCHEDULED": RunState.STARTING,
    "PENDING": RunState.STARTING,
    "RUNNING": RunState.RUNNING,
    "PAUSED": RunState.WAITING,
    "CANCELLING": RunState.STOPPING,
    "COMPLETED": RunState.DONE,
    "CANCELLED": RunState.STOPPED,
}
"""Any other state is a failure."""
_FILES = (EVENTS_FILE, STATUS_FILE)
"""Where a run's flow runs are named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RememberedRow(RunRow):
    """A run without a folder here."""

    flow_run_id: str
    flow_run_url: str

    @property
    def where(self) -> str:
        """What remembers it."""
        return WHERE

    @property
    def page(self) -> str:
        """Its page of Prefect."""
        return self.flow_run_url


class Remembered:
    """Asks Prefect for its runs; which of them have a folder here is told by these folders."""

    def __init__(self) -> None:
        """Have asked nothing."""
        self._ids: dict[Path, tuple[int, frozenset[str]]] = {}

    def read(self, rows: Iterable[RunRow]) -> tuple[RememberedRow, ...]:
        """The runs that none of ``rows`` is, the newest first; call it in a thread.

        Without an API that answers there are none: the detail of a run says what is the matter.
        """
        url = prefect_api.known_url()
        if url is None:
            return ()
        try:
            with PrefectClient(url, timeout_s=TIMEOUT_S) as client:
                found = client.rows(
                    "flow_runs", flows={"name": {"any_": [FLOW]}}, sort="EXPECTED_START_TIME_DESC"
                )
            # After the answer, which may take a while: what was forgotten meanwhile stays so.
            known = set(forgotten()).union(*(self._ids_of(row.path) for row in rows))
            others = (_row(run, url) for run in found if run["id"] not in known and _is_ours(run))
            return tuple(row for row in others if not _may_be_starting(row))
        except (HistoryUnavailableError, LookupError, TypeError, ValueError, AttributeError):
            return ()

    def _ids_of(self, folder: Path) -> frozenset[str]:
        stamp = max(_changed_at(folder / name) for name in _FILES)
        before = self._ids.get(folder)
        if before is None or before[0] != stamp:
            try:
                before = stamp, frozenset(flow_run_ids(folder))
            except OSError:
                before = stamp, frozenset()
            self._ids[folder] = before
        return before[1]


def forgotten() -> frozenset[str]:
    """The flow runs that the person does not want to see any more."""
    try:
        return frozenset(map(str, read_json(_path())["flow_runs"]))
    except (OSError, RunRecordError, LookupError, TypeError):
        return frozenset()


def forget(flow_run_id: str) -> None:
    """Show a flow run no more; Prefect keeps it.

    Raises:
        OSError: that can't be kept.
    """
    _path().parent.mkdir(parents=True, exist_ok=True)
    write_json(_path(), {"flow_runs": sorted(forgotten() | {flow_run_id})})


def story(row: RememberedRow) -> list[str]:
    """What Prefect remembers of a run, in lines; call it in a thread."""
    found = flow_history(row.flow_run_id)
    return [found] if isinstance(found, str) else _lines(found)


def _lines(run: FlowRunHistory) -> list[str]:
    lines = [f"{run.state}{_because(run.message)}"]
    for number, attempt in enumerate(run.attempts, 1):
        saved = sum("save" in task.name for task in attempt.tasks)
        lines.append(f"attempt {number}: {attempt.state}, {saved} saves{_because(attempt.message)}")
    return list(map(harmless, lines))


def _because(message: str | None) -> str:
    return f": {message}" if message else ""


def _is_ours(run: Mapping[str, Any]) -> bool:
    """Whether ``flows.train`` has labelled it; other people's flows may be called train, too."""
    return run["name"] in run["tags"]


def _may_be_starting(row: RememberedRow) -> bool:
    return not row.state.final and time.time() - row.run.record.created_at < STARTING_S


def _row(run: Mapping[str, Any], url: str) -> RememberedRow:
    parameters = run["parameters"] or {}
    created = datetime.fromisoformat(run["start_time"] or run["created"]).timestamp()
    record = RunRecord(
        exp_name=str(run["name"]),
        policy=str(parameters.get("policy", "")),
        policy_variant=str(parameters.get("policy_variant", "")),
        algorithm=str(parameters.get("algorithm", "")),
        algorithm_variant=str(parameters.get("algorithm_variant", "default")),
        env=None if parameters.get("env") is None else str(parameters["env"]),
        created_at=created,
    )
    message = (run["state"] or {}).get("message")
    return RememberedRow(
        # No folder: a name that marks and the cursor can hold on to.
        run=FoundRun(path=Path(run["id"]), record=record, status=None),
        state=_STATES.get(run["state_type"], RunState.FAILED),
        reason=f"only Prefect remembers it: {NO_FOLDER}"
        + (f"; it says: {message}" if message else ""),
        advice="enter shows what Prefect knows; o opens its page; D forgets it here",
        returns=(),
        flow_run_id=str(run["id"]),
        flow_run_url=prefect_api.flow_run_page(url, run["id"]),
    )


def without_folder(row: RunRow, what: str) -> str:
    """Why something can't be done with a run, in a sentence."""
    return f"{row.name} can't be {what}: {NO_FOLDER}"


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _path() -> Path:
    return home() / "forgotten-flow-runs.json"
