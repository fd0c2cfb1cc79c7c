"""A program with subcommands: its help and version, and the one module that a command needs."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from plugrl import __version__
from plugrl.cli.entry import Command, run_guarded, write
from plugrl.cli.table import columns
from plugrl.errors import UnknownNameError, UsageError


class Subcommand(NamedTuple):
    """A command of a program."""

    module: str
    """Imported when the command is run; has ``run(argv, prog)``."""
    summary: str
    extra: str | None = None
    """The extra of our distribution that brings what the module imports beyond the library."""


def run_subcommand(
    subcommands: Mapping[str, Subcommand], argv: Sequence[str], prog: str, about: str
) -> int:
    """Run the subcommand that ``argv`` begins with; returns its exit code.

    Args:
        subcommands: by name, in the order of the help text.
        argv: the program's arguments.
        prog: the program's name.
        about: a sentence for the help text.

    Raises:
        UnknownNameError: there is no such command.
        UsageError: what it needs is not installed; names the extra.
    """
    name, *rest = argv or ["--help"]
    if name in ("-h", "--help"):
        write(_introduction(subcommands, prog, about))
        return 0
    if name == "--version":
        write(f"{prog} {__version__}")
        return 0
    if name not in subcommands:
        raise UnknownNameError("command", name, subcommands)
    return run_guarded(_command(name, subcommands[name]), rest, f"{prog} {name}")


@contextlib.contextmanager
def needing_extra(name: str, extra: str) -> Iterator[None]:
    """Import what the command ``name`` needs, which an extra of our distribution brings.

    Raises:
        UsageError: something of it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{name} needs {error.name}, which is not installed: pip install 'plugrl[{extra}]'"
        ) from error


def _command(name: str, subcommand: Subcommand) -> Command:
    extra = subcommand.extra
    with contextlib.nullcontext() if extra is None else needing_extra(name, extra):
        command: Command = import_module(subcommand.module).run
    return command


def _introduction(subcommands: Mapping[str, Subcommand], prog: str, about: str) -> str:
    rows = [(name, subcommand.summary) for name, subcommand in subcommands.items()]
    return (
        f"usage: {prog} COMMAND ...\n\n{about}\n\ncommands:\n{columns(rows, indent=2)}\n\n"
        f"Options of a command: {prog} COMMAND --help"
    )
