"""``plugrl-flow evaluate STEP_DIR --env NAME``."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from flows.parameters import EvaluationParameters, pass_on_key
from flows.plans import add_prefect_flag, evaluation_plan
from flows.running import run_with_prefect
from flows.supervised import SupervisedRun
from plugrl.cli.evaluate import read_plan
from plugrl.cli.parsing import wants_help
from plugrl.cli.restarts import NO_RESTARTS


def run(argv: Sequence[str], prog: str) -> int:
    """Evaluate a checkpoint; returns the exit code.

    Raises:
        UsageError: the arguments can't work.
        CheckpointError: STEP_DIR is no checkpoint that can be trusted.
    """
    if not argv or wants_help(argv):
        read_plan(argv, prog, add_prefect_flag)
    pass_on_key(argv)
    parameters = EvaluationParameters.of(argv, prog)
    unrecorded = "--no-prefect" in argv
    switches = ["--no-prefect"] if unrecorded else []
    plan = evaluation_plan((*parameters.argv(), *switches))
    ending = None if unrecorded else run_with_prefect("evaluate", asdict(parameters))
    if ending is None:
        ending = asyncio.run(SupervisedRun(plan).run(NO_RESTARTS))
    return ending.exit_code
