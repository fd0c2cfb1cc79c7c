"""``plugrl-run-env-client ENV [VARIANT]``: run envs for a server."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, NoReturn

import tyro

from plugrl.cli.entry import configure_logging, run_and_exit, write
from plugrl.cli.env_choice import choose_env
from plugrl.cli.list_names import describe
from plugrl.cli.parsing import (
    IMPORT_FLAG,
    Flags,
    flags_named,
    load_named_plugins,
    require_names,
    take_names,
    wants_help,
)
from plugrl.config.client import ClientConfig
from plugrl.errors import UsageError
from plugrl.registry import ENVS

NAMES = ("ENV", "VARIANT")
PROG = "plugrl-run-env-client"

LIMIT_FLAG = Annotated[
    int | None,
    tyro.conf.arg(
        help="Steps after which an episode is truncated, where the env has such a limit."
    ),
]


def main() -> NoReturn:
    """The console script."""
    run_and_exit(run, PROG)


def run(argv: Sequence[str], prog: str = PROG) -> int:
    """Run envs until the server stops or the episodes are done; returns the exit code.

    Raises:
        PlugRLError: see ``plugrl.client.run``.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, ENVS)
    if wants_help(argv) and not names:
        write(introduction(prog))
        return 0
    require_names(names, NAMES[:1], f"see '{prog} --help' for what there is")
    choice = choose_env(*names)
    arguments = (
        Flags(f"{prog} {' '.join(names)}", f"Run {choice.name} envs for a server.")
        .add("imports", IMPORT_FLAG, ())
        .add_config("client", ClientConfig(), prefix="")
        .add("max_episode_steps", LIMIT_FLAG, None)
        .add_config("env", choice.config)
        .parse(flags)
    )
    configure_logging(arguments.client.log_level)
    env = with_step_limit(choice.uid, arguments.env, arguments.max_episode_steps)
    from plugrl.client.run import run_processes

    return run_processes(choice.uid, env, arguments.client, imports=arguments.imports)


def with_step_limit(uid: str, env: Any, max_episode_steps: int | None) -> Any:
    """``env`` with the limit of ``--max-episode-steps``, if that was given.

    Raises:
        UsageError: the env has no such limit.
    """
    if max_episode_steps is None:
        return env
    names = [f.name for f in fields(env)]
    if "max_episode_steps" not in names:
        raise UsageError(
            f"env {uid!r} has no limit of steps to set with --max-episode-steps "
            f"(it has: {', '.join(names)})"
        )
    with flags_named({type(env).__name__: ""}):
        return replace(env, max_episode_steps=max_episode_steps)


def introduction(prog: str) -> str:
    """The help text for somebody who has not chosen an env yet."""
    return "\n\n".join(
        (
            f"usage: {prog} ENV [VARIANT] [OPTIONS]",
            "Runs envs that ask a server for actions and report what happened.",
            describe(ENVS),
            f"All options: {prog} hopper --help",
        )
    )


if __name__ == "__main__":
    main()
