"""``plugrl``: every command as a subcommand."""

from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from plugrl import __version__
from plugrl.cli.entry import Command, run_and_exit, run_guarded, write
from plugrl.cli.table import columns
from plugrl.errors import UnknownNameError, UsageError

PROG = "plugrl"

COMMANDS = {
    "launch": ("plugrl.cli.launch", "train here: a server and its env clients together"),
    "run-server": ("plugrl.cli.run_server", "serve a policy and train it"),
    "run-env-client": ("plugrl.cli.run_env_client", "run envs for a server"),
    "eval": ("plugrl.cli.evaluate", "measure a checkpoint over whole episodes"),
    "checkpoints": ("plugrl.cli.checkpoints", "show what a run has saved"),
    "list": ("plugrl.cli.list_names", "list policies, algorithms and envs"),
    # By name: this library knows nothing of Prefect, whom the package beside it is about.
    "ui": ("flows.ui", "open the pages that remember runs"),
}

EXTRAS = {"ui": "flows"}
"""The extra of our distribution that brings what a command imports."""


def main() -> NoReturn:
    """The console script."""
    run_and_exit(run, PROG)


def run(argv: Sequence[str], prog: str = PROG) -> int:
    """Run the subcommand that ``argv`` begins with.

    Raises:
        UnknownNameError: there is no such command.
    """
    name, *rest = argv or ["--help"]
    if name in ("-h", "--help"):
        write(_introduction(prog))
        return 0
    if name == "--version":
        write(f"{prog} {__version__}")
        return 0
    if name not in COMMANDS:
        raise UnknownNameError("command", name, COMMANDS)
    return run_guarded(_command(name), rest, f"{prog} {name}")


def _command(name: str) -> Command:
    try:
        command: Command = import_module(COMMANDS[name][0]).run
    except ModuleNotFoundError as error:
        if name not in EXTRAS:
            raise
        raise UsageError(
            f"{name} needs {error.name}, which is not installed: "
            f"pip install 'plugrl[{EXTRAS[name]}]'"
        ) from error
    return command


def _introduction(prog: str) -> str:
    rows = [(name, what) for name, (_, what) in COMMANDS.items()]
    return (
        f"usage: {prog} COMMAND ...\n\n"
        "Train policies on one machine with environments that run anywhere.\n\n"
        f"commands:\n{columns(rows, indent=2)}\n\n"
        f"Options of a command: {prog} COMMAND --help"
    )


if __name__ == "__main__":
    main()
