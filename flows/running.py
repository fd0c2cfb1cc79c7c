"""Running one of our flows from a command: found API, outcome, no tracebacks."""

import logging
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from flows import beside
from plugrl.cli.supervision import Ending

logger = logging.getLogger(__name__)

RECONCILE_TIMEOUT_S = 2.0
"""How long runs that were lost may keep a new one waiting, beyond the time that imports take."""


def run_with_prefect(flow_name: str, parameters: Mapping[str, Any]) -> Ending | None:
    """Run ``flows.NAME.NAME``; None where Prefect is away and nothing was begun.

    Raises:
        KeyboardInterrupt: it was stopped before it began.
    """
    from flows.api import ensure_api
    from flows.reconcile import reconcile

    if ensure_api() is None:
        return None
    settling = threading.Thread(target=reconcile, daemon=True)
    settling.start()
    from prefect.exceptions import TerminationSignal
    from prefect.flow_engine import run_flow_async

    flow = getattr(import_module(f"flows.{flow_name}"), flow_name)
    settling.join(RECONCILE_TIMEOUT_S)
    flow_call = run_flow_async(flow, parameters=dict(parameters), return_type="state")
    try:
        outcome = beside.run(beside.outcome_of(flow_call))
    except TerminationSignal as stop:
        outcome = stop
    if isinstance(outcome, TerminationSignal):
        # What Prefect makes of SIGTERM until the supervisor listens to it.
        raise KeyboardInterrupt from outcome
    if isinstance(outcome, BaseException):
        raise outcome
    if outcome is None:
        logger.warning("Prefect's API is away: the run is not recorded there, and goes on without")
    assert outcome is None or isinstance(outcome, Ending)
    return outcome
