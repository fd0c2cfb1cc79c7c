"""``plugrl launch POLICY VARIANT ALGO VARIANT --env NAME``: train on this machine alone."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from plugrl.cli.chronicle import Chronicle
from plugrl.cli.entry import configure_logging, write
from plugrl.cli.env_choice import OTHER_NAMES
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.parsing import (
    REQUIRED_ENV_FLAG,
    Flags,
    load_named_plugins,
    peek,
    take_names,
    wants_help,
)
from plugrl.cli.run_env_client import LIMIT_FLAG
from plugrl.cli.run_server import (
    EXAMPLE,
    NAMES,
    add_server_flags,
    introduction,
    named_env,
    training,
)
from plugrl.cli.supervision import Supervisor
from plugrl.config.client import LocalClients
from plugrl.errors import UsageError
from plugrl.registry import ENVS, POLICIES

AddFlags: TypeAlias = Callable[[Flags], Flags]


def run(argv: Sequence[str], prog: str) -> int:
    """Run a server and its env clients until the server ends; returns its exit code.

    Raises:
        UsageError: the arguments can't work.
    """
    plan = read_plan(argv, prog)
    return 0 if plan is None else supervise(plan)


def supervise(plan: LaunchPlan) -> int:
    """Run one server and its env clients; returns the exit code."""
    supervisor = Supervisor(plan, onlooker=Chronicle(plan.run_dir))
    return asyncio.run(supervisor.run()).exit_code


def read_plan(
    argv: Sequence[str], prog: str, add_flags: AddFlags = lambda flags: flags
) -> LaunchPlan | None:
    """What the arguments ask for; None where they ask for help, which they then got.

    Args:
        argv: the command's arguments.
        prog: the program's name.
        add_flags: adds more flags to those of a launch.

    Raises:
        UsageError: the arguments can't work.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, POLICIES)
    if wants_help(argv) and len(names) < len(NAMES):
        write(introduction(prog, (*NAMES, "--env NAME"), f"{prog} {EXAMPLE} --help"))
        return None
    opening = add_flags(opening_flags(f"{prog} {' '.join(names)}", training(names)))
    return make_plan(names, flags, opening, [*prog.split(), *argv])


def opening_flags(prog: str, description: str) -> Flags:
    """The flags that are more than a server's."""
    return (
        Flags(prog, description)
        .add("env_name", REQUIRED_ENV_FLAG, None)
        .add_config("clients", LocalClients(), prefix="")
        .add("max_episode_steps", LIMIT_FLAG, None)
    )


def make_plan(
    names: Sequence[str], flags: Sequence[str], opening: Flags, typed: Sequence[str]
) -> LaunchPlan:
    """Parse what follows the names.

    Args:
        names: POLICY VARIANT ALGO VARIANT.
        flags: the arguments after them.
        opening: ``opening_flags``.
        typed: the whole command, as a person typed it; its first two words are the program.

    Raises:
        UsageError: the arguments can't work.
    """
    choice = named_env(flags)
    parser = add_server_flags(opening, names, " ".join(typed[:2]), choice)
    # Who runs no env needs none: the sizes may come from flags.
    if choice is None and not wants_help(flags) and peek(flags, "--num-procs")[-1:] != ["0"]:
        raise UsageError(f"expected --env NAME, one of {', '.join(ENVS.uids())}; or {OTHER_NAMES}")
    arguments = parser.parse(flags)
    configure_logging(arguments.run.log_level)
    return LaunchPlan(names, arguments, choice, typed)
