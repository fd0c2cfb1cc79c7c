"""``plugrl-flow train POLICY VARIANT ALGO VARIANT --env NAME``."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict

from flows.parameters import TrainParameters
from flows.plans import add_flags, restarts, train_plan
from flows.supervised import SupervisedRun
from plugrl.cli.launch import read_plan
from plugrl.cli.parsing import peek, wants_help
from plugrl.cli.supervision import Ending
from plugrl.config.server import API_KEY_VARIABLE
from plugrl.errors import UsageError
from plugrl.runs.provenance import SECRET

logger = logging.getLogger(__name__)


def run(argv: Sequence[str], prog: str) -> int:
    """Train until all steps are done or somebody stops it; returns the exit code.

    Raises:
        UsageError: the arguments can't work.
    """
    if wants_help(argv):
        read_plan(argv, prog, add_flags)
        return 0
    if keys := peek(argv, SECRET):
        # Children inherit it; parameters, which are sent and shown, leave it out.
        os.environ[API_KEY_VARIABLE] = keys[-1]
    parameters = TrainParameters.of(argv)
    plan = train_plan(tuple(parameters.argv()))
    if "--detach" in argv:
        from flows.detaching import detach

        switches = ["--no-prefect"] if "--no-prefect" in argv else []
        return detach([*parameters.argv(), *switches], plan)
    ending = None if "--no-prefect" in argv else _with_prefect(parameters)
    if ending is None:
        ending = asyncio.run(SupervisedRun(plan).run(restarts(plan)))
    return ending.exit_code


def _with_prefect(parameters: TrainParameters) -> Ending | None:
    """Train as a flow; None where Prefect is away and nothing was begun."""
    from flows.api import ensure_api

    if ensure_api() is None:
        return None
    from prefect.exceptions import TerminationSignal
    from prefect.flow_engine import run_flow_async

    from flows.beside import outcome_of
    from flows.train import train

    flow_call = run_flow_async(train, parameters=asdict(parameters), return_type="state")
    outcome = asyncio.run(outcome_of(flow_call))
    if isinstance(outcome, TerminationSignal):
        raise UsageError("stopped before anything was begun") from outcome
    if isinstance(outcome, BaseException):
        raise outcome
    if outcome is None:
        logger.warning("Prefect's API is away: the run is not recorded there, and goes on without")
    assert outcome is None or isinstance(outcome, Ending)
    return outcome
