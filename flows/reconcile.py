"""Final records for runs whose process is gone without one: after kill -9, or a power cut.

Done at every start. Only this machine's runs are judged, by pid and by when the process began.
"""

import logging
import time
from dataclasses import dataclass
from pathlib import Path

from flows.stragglers import settle_flow_runs
from plugrl.errors import PlugRLError
from plugrl.runs import catalog, liveness, prefect_api, records
from plugrl.runs.catalog import FoundRun
from plugrl.runs.records import Event, RunState

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """What was found without an end, and has one now."""

    runs: tuple[Path, ...]
    """Folders of runs whose process was gone."""
    flow_runs: tuple[str, ...]
    """Ids of flow runs that Prefect thought alive."""


def reconcile() -> Reconciled:
    """Give every lost run of this machine its final record, and Prefect's flow runs theirs.

    Never raises for what is on disk or for an API that is away: it logs that, and the next start
    tries again.
    """
    lost = [run for run in catalog.find_runs().found if _is_lost(run)]
    settled = tuple(run.path for run in lost if _settle(run))
    flow_runs: tuple[str, ...] = ()
    if url := prefect_api.known_url():
        try:
            flow_runs = settle_flow_runs(url, catalog.find_runs().found)
        except (OSError, PlugRLError) as error:
            logger.info("Prefect's history was not looked at: %s", error)
    return Reconciled(runs=settled, flow_runs=flow_runs)


def _is_lost(run: FoundRun) -> bool:
    status = run.status
    if status is None or liveness.observed_state(status, time.time()) is not RunState.LOST:
        return False
    # A server that outlives its supervisor saves, and then writes the last record itself.
    return not liveness.server_lives(status)


def _settle(run: FoundRun) -> bool:
    status = run.status
    assert status is not None, "a run without a status is not known to be lost"
    why = f"its process (pid {status.pid}) was gone without a last word"
    saved = status.last_checkpoint
    remedy = "no checkpoint" if saved is None else f"the last checkpoint is of step {saved.step:,}"
    event = Event(event="failed", attempt=status.attempt, step=status.step, details={"why": why})
    try:
        records.append_event(run.path, event)
        records.update_status(
            run.path,
            state=RunState.FAILED,
            reason=f"{why}; {remedy}",
            url=None,
            server_pid=None,
            server_pid_started=None,
            server_pid_birth=None,
        )
    except (OSError, PlugRLError) as error:
        logger.warning("the lost run %s keeps its old record: %s", run.path, error)
        return False
    logger.info("%s: %s; %s", run.path, why, remedy)
    return True
