"""``plugrl-flow train POLICY VARIANT ALGO VARIANT --env NAME``."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import asdict

from flows.parameters import TrainParameters
from flows.plans import add_flags, restarts, train_plan
from flows.running import run_with_prefect
from flows.supervised import SupervisedRun
from plugrl.cli.launch import read_plan
from plugrl.cli.parsing import peek, wants_help
from plugrl.config.server import API_KEY_VARIABLE
from plugrl.runs.provenance import SECRET


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
    ending = None if "--no-prefect" in argv else run_with_prefect("train", asdict(parameters))
    if ending is None:
        ending = asyncio.run(SupervisedRun(plan).run(restarts(plan)))
    return ending.exit_code
