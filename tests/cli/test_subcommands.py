import sys

import pytest

from plugrl import __version__
from plugrl.cli.subcommands import Subcommand, run_subcommand
from plugrl.errors import UnknownNameError, UsageError

COMMANDS = {
    "list": Subcommand("plugrl.cli.list_names", "list names"),
    "own": Subcommand("module_that_is_missing", "lacks what is always there"),
    "beside": Subcommand("module_that_is_missing", "lacks an extra", extra="tui"),
}


def run(*argv: str) -> int:
    return run_subcommand(COMMANDS, argv, "program", "Does this and that.")


@pytest.mark.parametrize("argv", [(), ("--help",), ("-h",)])
def test_the_help_text_has_what_it_is_about_and_every_command(argv, capsys):
    assert run(*argv) == 0
    assert capsys.readouterr().out == (
        "usage: program COMMAND ...\n\nDoes this and that.\n\n"
        "commands:\n"
        "  list    list names\n"
        "  own     lacks what is always there\n"
        "  beside  lacks an extra\n\n"
        "Options of a command: program COMMAND --help\n"
    )


def test_the_version_is_written(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"program {__version__}\n"


def test_a_command_gets_its_arguments_and_its_name(capsys):
    assert run("list", "policys") == 2
    assert capsys.readouterr().err.startswith("program list: error: unknown kind 'policys'")


def test_an_unknown_command_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown command 'lits', did you mean 'list'"):
        run("lits")


def test_what_is_not_installed_is_named_with_its_extra_and_is_our_mistake_without_one():
    assert "module_that_is_missing" not in sys.modules
    with pytest.raises(UsageError, match=r"beside needs module_that_is_missing.*'plugrl\[tui\]'"):
        run("beside")
    with pytest.raises(ModuleNotFoundError):
        run("own")
