import contextlib
import resource
from collections.abc import Iterator

import pytest

from plugrl.runs.files import append_text


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
