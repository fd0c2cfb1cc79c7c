"""``plugrl-flow evaluate STEP_DIR --env NAME``."""

import asyncio
from collections.abc import Sequence

from flows.parameters import SWITCHES, to_options
from flows.plans import evaluation_plan
from flows.running import run_with_prefect
from flows.supervised import SupervisedRun
from plugrl.cli.evaluate import read_plan
from plugrl.cli.parsing import wants_help
from plugrl.cli.restarts import NO_RESTARTS
from plugrl.errors import UsageError


def run(argv: Sequence[str], prog: str) -> int:
    """Evaluate a checkpoint; returns the exit code.

    Raises:
        UsageError: the arguments can't work.
        CheckpointError: STEP_DIR is no checkpoint that can be trusted.
    """
    arguments = [argument for argument in argv if argument not in SWITCHES]
    if not arguments or wants_help(arguments):
        read_plan(arguments, prog)
    step_dir, *flags = arguments
    options, imports = to_options(flags)
    parameters = {
        "step_dir": step_dir,
        "env": options.pop("env", None),
        "imports": imports,
        "options": options,
    }
    if parameters["env"] is None:
        raise UsageError("expected --env NAME, the env to evaluate in")
    plan = evaluation_plan(tuple(arguments))
    ending = None if "--no-prefect" in argv else run_with_prefect("evaluate", parameters)
    if ending is None:
        ending = asyncio.run(SupervisedRun(plan).run(NO_RESTARTS))
    return ending.exit_code
