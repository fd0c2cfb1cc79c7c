"""``plugrl-flow``: runs that are supervised, and remembered by Prefect."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from flows.leaving import leave
from plugrl import __version__
from plugrl.cli.entry import Command, run_guarded, write
from plugrl.cli.table import columns
from plugrl.errors import UnknownNameError, UsageError

PROG = "plugrl-flow"

COMMANDS = {
    "train": ("flows.train_command", "train here, over as many servers as it takes"),
    "evaluate": ("flows.evaluate_command", "measure a checkpoint, and keep the result"),
    "list": ("flows.list_runs", "list runs"),
    "show": ("flows.show_run", "show one run: its attempts and checkpoints"),
    "cancel": ("flows.cancel_run", "stop a run, which saves"),
    "serve": ("flows.serve_command", "offer training as a deployment, in this process"),
    "deploy": ("flows.deploy_command", "offer training as a deployment of a work pool"),
}
WITHOUT_SPARE = {"-h", "--help", "--detach", "--no-prefect"}


def main() -> NoReturn:
    """The console script."""
    if str(Path.cwd()) not in sys.path:
        # A person's own modules, such as an env, are found there.
        sys.path.append(str(Path.cwd()))
    leave(run_guarded(run, sys.argv[1:], PROG))


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
    try:
        from flows import spares

        if name == "train" and WITHOUT_SPARE.isdisjoint(rest):
            # Before anything else is imported: what the server needs takes longest.
            spares.prepare()
        command: Command = import_module(COMMANDS[name][0]).run
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{name} needs {error.name}, which is not installed: pip install 'plugrl[flows]'"
        ) from error
    try:
        return run_guarded(command, rest, f"{prog} {name}")
    finally:
        spares.dismiss()


def _introduction(prog: str) -> str:
    rows = [(name, what) for name, (_, what) in COMMANDS.items()]
    return (
        f"usage: {prog} COMMAND ...\n\n"
        "Train under supervision: what crashes is started again and goes on from its newest "
        "checkpoint.\n\n"
        f"commands:\n{columns(rows, indent=2)}\n\n"
        f"Options of a command: {prog} COMMAND --help"
    )


if __name__ == "__main__":
    main()
