"""``plugrl-flow``: runs that are supervised, and remembered by Prefect."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from flows.leaving import leave
from plugrl.cli.entry import find_modules_here, run_guarded
from plugrl.cli.subcommands import Subcommand, needing_extra, run_subcommand

PROG = "plugrl-flow"
ABOUT = (
    "Train under supervision: what crashes is started again and goes on from its newest checkpoint."
)
EXTRA = "flows"

COMMANDS = {
    name: Subcommand(module, summary, extra=EXTRA)
    for name, module, summary in (
        ("train", "flows.train_command", "train here, over as many servers as it takes"),
        ("evaluate", "flows.evaluate_command", "measure a checkpoint, and keep the result"),
        ("list", "flows.list_runs", "list runs"),
        ("show", "flows.show_run", "show one run: its attempts and checkpoints"),
        ("cancel", "flows.cancel_run", "stop a run, which saves"),
        ("serve", "flows.serve_command", "offer training as a deployment, in this process"),
        ("deploy", "flows.deploy_command", "offer training as a deployment of a work pool"),
    )
}
WITHOUT_SPARE = {"-h", "--help", "--detach", "--no-prefect"}


def main() -> NoReturn:
    """The console script."""
    find_modules_here()
    leave(run_guarded(run, sys.argv[1:], PROG))


def run(argv: Sequence[str], prog: str = PROG) -> int:
    """Run the subcommand that ``argv`` begins with.

    Raises:
        UnknownNameError: there is no such command.
        UsageError: what it needs is not installed.
    """
    if list(argv[:1]) != ["train"] or not WITHOUT_SPARE.isdisjoint(argv):
        return run_subcommand(COMMANDS, argv, prog, ABOUT)
    with needing_extra("train", EXTRA):
        from flows import spares

        # Before the rest is imported: what the server needs takes longest.
        spares.prepare(argv[1:])
    try:
        return run_subcommand(COMMANDS, argv, prog, ABOUT)
    finally:
        spares.dismiss()


if __name__ == "__main__":
    main()
