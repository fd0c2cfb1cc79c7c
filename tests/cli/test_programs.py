"""Programs as a person can type them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugrl.cli.programs import runnable

PROGRAM = "plugrl-tui"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that no shell was told of, one folder below the present one."""
    program = tmp_path / "venv" / "bin" / PROGRAM
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho ours\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.chdir(tmp_path)
    return program


def test_what_the_shell_finds_goes_by_its_name(installed, monkeypatch):
    monkeypatch.setenv("PATH", str(installed.parent))
    assert runnable(PROGRAM) == PROGRAM


@pytest.mark.parametrize("folder", [".", "venv/bin", "/"])
def test_what_it_does_not_find_goes_by_a_path_that_a_shell_can_run(installed, folder, monkeypatch):
    monkeypatch.chdir(folder)
    typed = runnable(PROGRAM)
    assert subprocess.check_output(["/bin/sh", "-c", typed], text=True) == "ours\n"


def test_a_path_below_the_present_folder_is_told_from_there(installed):
    assert runnable(PROGRAM) == f"venv/bin/{PROGRAM}"


def test_another_environments_program_is_not_taken_for_ours(installed, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(installed, other)
    monkeypatch.setenv("PATH", str(other))
    assert runnable(PROGRAM) == f"venv/bin/{PROGRAM}"


def test_what_is_not_installed_keeps_its_name(installed):
    assert runnable("plugrl-nothing") == "plugrl-nothing"
