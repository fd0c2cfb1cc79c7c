import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from plugrl.runs.files import append_text, clear_away


@contextlib.contextmanager
def files_of_at_most(num_bytes: int) -> Iterator[None]:
    """A disk that takes a part of a write and refuses the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_lines_of_which_the_disk_takes_a_part_are_there_once_when_it_takes_all(tmp_path):
    log = tmp_path / "log"
    append_text(log, "first\n")
    with files_of_at_most(9), pytest.raises(OSError, match="File too large"):
        append_text(log, "second\n")
    assert log.read_text() == "first\n"
    append_text(log, "second\n")
    assert log.read_text() == "first\nsecond\n"


def test_a_line_that_was_left_open_is_ended_first(tmp_path):
    log = tmp_path / "log"
    log.write_text("a kill cut this")
    append_text(log, "next\n")
    assert log.read_text() == "a kill cut this\nnext\n"


def test_what_killed_writers_left_is_cleared_away_and_what_others_write_is_not(tmp_path):
    kill_while_it_writes = (
        "import os, sys; from pathlib import Path; from plugrl.runs.files import write_json;"
        "Path.replace = lambda *paths: os.kill(os.getpid(), 9);"
        "write_json(Path(sys.argv[1]), {})"
    )
    path = tmp_path / "status.json"
    killed = subprocess.run([sys.executable, "-c", kill_while_it_writes, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    others = [f".status.json.{os.getpid()}-0123abcd", ".mine.json.7", ".status.json.999999999-xyz"]
    for name in others:
        (tmp_path / name).touch()
    clear_away(tmp_path)
    assert not left.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(others)
