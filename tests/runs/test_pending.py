from pathlib import Path

import pytest

from plugrl.runs import pending
from plugrl.runs.pending import PendingLines


def test_lines_are_appended_in_order(tmp_path):
    lines = PendingLines(tmp_path / "log")
    lines.flush()
    assert not (tmp_path / "log").exists()
    for line in ("a\n", "b\n"):
        lines.add(line)
    lines.flush()
    lines.add("c\n")
    lines.flush()
    lines.flush()
    assert (tmp_path / "log").read_text() == "a\nb\nc\n"


def test_lines_wait_while_the_disk_refuses_them(tmp_path):
    folder = tmp_path / "mount"
    lines = PendingLines(folder / "log")
    lines.add("a\n")
    with pytest.raises(FileNotFoundError):
        lines.flush()
    lines.add("b\n")
    folder.mkdir()
    lines.flush()
    assert (folder / "log").read_text() == "a\nb\n"


def test_the_oldest_give_way_to_those_that_come_while_the_disk_refuses(tmp_path, monkeypatch):
    monkeypatch.setattr(pending, "MAX_PENDING_LINES", 2)
    lines = PendingLines(tmp_path / "log")

    def refuse(path: Path, text: str) -> None:
        lines.add("c\n")
        raise OSError(28, "No space left on device")

    for line in ("a\n", "b\n"):
        lines.add(line)
    with monkeypatch.context() as patch:
        patch.setattr(pending, "append_text", refuse)
        with pytest.raises(OSError, match="No space"):
            lines.flush()
    lines.flush()
    assert (tmp_path / "log").read_text() == "b\nc\n"


def test_the_oldest_give_way(tmp_path, monkeypatch):
    monkeypatch.setattr(pending, "MAX_PENDING_LINES", 2)
    lines = PendingLines(tmp_path / "log")
    for line in ("a\n", "b\n", "c\n"):
        lines.add(line)
    lines.flush()
    assert (tmp_path / "log").read_text() == "b\nc\n"
