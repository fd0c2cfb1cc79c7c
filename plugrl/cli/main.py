"""``plugrl``: every command as a subcommand."""

from collections.abc import Sequence
from typing import NoReturn

from plugrl.cli.entry import run_and_exit
from plugrl.cli.subcommands import Subcommand, run_subcommand

PROG = "plugrl"
ABOUT = "Train policies on one machine with environments that run anywhere."

COMMANDS = {
    "launch": Subcommand("plugrl.cli.launch", "train here: a server and its env clients together"),
    "run-server": Subcommand("plugrl.cli.run_server", "serve a policy and train it"),
    "run-env-client": Subcommand("plugrl.cli.run_env_client", "run envs for a server"),
    "eval": Subcommand("plugrl.cli.evaluate", "measure a checkpoint over whole episodes"),
    "checkpoints": Subcommand("plugrl.cli.checkpoints", "show what a run has saved"),
    "list": Subcommand("plugrl.cli.list_names", "list policies, algorithms and envs"),
    # By name: this library knows nothing of Prefect, whom the package beside it is about.
    "ui": Subcommand("flows.ui", "open the pages that remember runs", extra="flows"),
}


def main() -> NoReturn:
    """The console script."""
    run_and_exit(run, PROG)


def run(argv: Sequence[str], prog: str = PROG) -> int:
    """Run the subcommand that ``argv`` begins with.

    Raises:
        UnknownNameError: there is no such command.
        UsageError: what it needs is not installed.
    """
    return run_subcommand(COMMANDS, argv, prog, ABOUT)


if __name__ == "__main__":
    main()
