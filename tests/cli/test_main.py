import contextlib
import re
import subprocess
import sys

import pytest

from plugrl import __version__
from plugrl.cli import main
from plugrl.errors import UnknownNameError


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_the_help_text_names_every_command(argv, capsys, golden):
    assert main.run(argv) == 0
    golden("plugrl.txt", capsys.readouterr().out)


def test_the_version_is_written(capsys):
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out == f"plugrl {__version__}\n"


def test_a_mistake_names_the_command_that_was_typed(capsys):
    assert main.run(["launch", "dummy-policy"]) == 2
    assert capsys.readouterr().err.startswith("plugrl launch: error: expected POLICY")


def test_an_unknown_command_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown command 'lunch', did you mean 'launch'"):
        main.run(["lunch"])


def test_a_command_whose_packages_are_missing_names_the_extra():
    # In a fresh process: here, all that needs the package is imported already.
    without = "import sys; sys.modules['psutil'] = None; from plugrl.cli import main; main.main()"
    done = subprocess.run(
        [sys.executable, "-c", without, "ui"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert re.search(r"ui needs psutil.*pip install 'plugrl\[flows\]'", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", list(main.COMMANDS))
def test_every_command_has_a_help_text(name, capsys):
    with contextlib.suppress(SystemExit):
        assert main.run([name, "--help"]) == 0
    assert f"plugrl {name}" in capsys.readouterr().out
