"""The plan of a supervised run: a launch with restarts."""

from functools import cache
from typing import Annotated

import tyro

from plugrl.cli import evaluate
from plugrl.cli.launch import read_plan
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.parsing import Flags
from plugrl.cli.restarts import RestartConfig

TRAIN_PROG = "plugrl-flow train"
EVALUATE_PROG = "plugrl-flow evaluate"
PREFECT_FLAG = Annotated[
    bool, tyro.conf.arg(help="Record the run in Prefect; without, nothing but its history is lost.")
]
DETACH_FLAG = Annotated[
    bool, tyro.conf.arg(help="Go on in the background, whatever becomes of this terminal.")
]


@cache
def train_plan(argv: tuple[str, ...]) -> LaunchPlan:
    """The plan of a command line without ``--help``; made once, as the command and its flow ask.

    Raises:
        UsageError: the arguments can't work.
    """
    plan = read_plan(argv, TRAIN_PROG, add_flags)
    assert plan is not None, "help is asked for before"
    return plan


@cache
def evaluation_plan(argv: tuple[str, ...]) -> LaunchPlan:
    """The plan of an evaluation, likewise.

    Raises:
        UsageError: the arguments can't work.
        CheckpointError: the checkpoint can't be used.
    """
    return evaluate.read_plan(argv, EVALUATE_PROG, add_prefect_flag)


def restarts(plan: LaunchPlan) -> RestartConfig:
    """The restarts that the plan's flags ask for."""
    config: RestartConfig = plan.arguments.restarts
    return config


def add_flags(flags: Flags) -> Flags:
    """The flags of ``plugrl-flow train`` beside those of ``plugrl launch``."""
    flags = flags.add_config("restarts", RestartConfig(), prefix="")
    return add_prefect_flag(flags).add("detach", DETACH_FLAG, default=False)


def add_prefect_flag(flags: Flags) -> Flags:
    """The flag of ``plugrl-flow evaluate`` beside those of ``plugrl eval``."""
    return flags.add("prefect", PREFECT_FLAG, default=True)
