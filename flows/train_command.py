"""``plugrl-flow train POLICY VARIANT ALGO VARIANT --env NAME``."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from flows.parameters import TrainParameters, pass_on_key
from flows.plans import add_flags, restarts, train_plan
from flows.running import run_with_prefect
from flows.supervised import SupervisedRun
from plugrl.cli.launch import read_plan
from plugrl.cli.parsing import wants_help


def run(argv: Sequence[str], prog: str) -> int:
    """Train until all steps are done or somebody stops it; returns the exit code.

    Raises:
        UsageError: the arguments can't work.
    """
    if wants_help(argv):
        read_plan(argv, prog, add_flags)
        return 0
    pass_on_key(argv)
    parameters = TrainParameters.of(argv)
    unrecorded = "--no-prefect" in argv
    # The run's own record says so too, for whoever goes on with it.
    command = [*parameters.argv(), *(["--no-prefect"] if unrecorded else [])]
    plan = train_plan(tuple(command))
    if "--detach" in argv:
        from flows.detaching import detach

        return detach(command, plan)
    ending = None if unrecorded else run_with_prefect("train", asdict(parameters))
    if ending is None:
        ending = asyncio.run(SupervisedRun(plan).run(restarts(plan)))
    return ending.exit_code
