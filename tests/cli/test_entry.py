import os
import subprocess
import sys

import numpy as np
import pytest

from plugrl.cli.entry import run_guarded
from plugrl.errors import CheckpointDamagedError, ConfigError, UsageError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("a mistake"), 2),
        (UsageError("a mistake:\n  of two lines"), 2),
        (ConfigError("a mistake"), 2),
        (CheckpointDamagedError("a failure"), 1),
        (OSError(28, "No space left on device"), 1),
    ],
)
def test_what_we_raise_on_purpose_is_one_sentence_and_a_code(error, code, capsys):
    def command(argv, prog):
        raise error

    assert run_guarded(command, [], "plugrl x") == code
    assert capsys.readouterr().err == f"plugrl x: error: {error}\n"


def test_what_a_sentence_quotes_is_not_obeyed_by_the_terminal(capsys):
    def command(argv, prog):
        raise UsageError("got \x1b[31m")

    assert run_guarded(command, [], "plugrl x") == 2
    assert capsys.readouterr().err == "plugrl x: error: got ·[31m\n"


def test_too_little_memory_is_a_sentence(capsys):
    def command(argv, prog):
        np.zeros(2**48)

    assert run_guarded(command, [], "plugrl x") == 1
    assert "plugrl x: error: expected enough memory, got a refusal: Un" in capsys.readouterr().err


def test_what_we_did_not_expect_is_logged_with_its_traceback(caplog):
    def command(argv, prog):
        raise ZeroDivisionError("oops")

    assert run_guarded(command, [], "plugrl x") == 1
    assert "ZeroDivisionError: oops" in caplog.text


def test_ctrl_c_is_a_sentence_and_the_code_of_shells(capsys):
    def command(argv, prog):
        raise KeyboardInterrupt

    assert run_guarded(command, [], "plugrl x") == 130
    assert capsys.readouterr().err == "plugrl x: interrupted\n"


def test_the_commands_own_code_is_passed_on():
    assert run_guarded(lambda argv, prog: len(argv), ["a", "b", "c"], "plugrl x") == 3


def test_flags_with_underscores_are_taken_for_those_with_dashes():
    given = ["my_env", "--api_key", "a_b", "--env.max_steps=x_y", "-c_d"]
    taken: list[str] = []

    def command(argv, prog):
        taken.extend(argv)
        return 0

    assert run_guarded(command, given, "plugrl x") == 0
    assert taken == ["my_env", "--api-key", "a_b", "--env.max-steps=x_y", "-c_d"]


def test_a_reader_that_has_had_enough_ends_a_command_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    listing = [sys.executable, "-m", "plugrl.cli.main", "list"]
    done = subprocess.run(listing, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("module", ["flows.cli", "plugrl_tui.cli"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_and_a_narrow_encoding_are_no_traceback(module, closed, tmp_path):
    program = f"import sys; sys.argv = ['x', *sys.argv[1:]]; from {module} import main; main()"
    words = {"flows.cli": "list", "plugrl_tui.cli": "runs"}
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$@" {closed}', sys.executable, "-c", program, words[module]],
        env={**os.environ, "PLUGRL_HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_sign_that_the_encoding_lacks_is_escaped():
    program = (
        "from plugrl.cli.entry import run_guarded, write\n"
        "run_guarded(lambda argv, prog: write('na\\xefve') or 0, [], 'x')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "na\\xefve\n"
