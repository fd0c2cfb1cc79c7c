"""Files that grow."""

from typing import Any

import pytest

from plugrl_tui.core import tail
from plugrl_tui.core.tail import JsonTail, Tail


def test_only_whole_new_lines_are_read(tmp_path):
    path = tmp_path / "log"
    follower = Tail(path)
    assert follower.lines() == []
    path.write_text("one\ntw")
    assert follower.lines() == ["one"]
    with path.open("a") as file:
        file.write("o\nthree\n")
    assert follower.lines() == ["two", "three"]
    assert follower.lines() == []


@pytest.mark.parametrize("how", ["shorter", "replaced"])
def test_a_file_that_begins_anew_is_read_anew(tmp_path, how):
    path = tmp_path / "log"
    path.write_text("a long first line\n")
    follower = Tail(path)
    follower.lines()
    if how == "shorter":
        path.write_text("new\n")
    else:
        (tmp_path / "other").write_text("a line that is longer\n")
        (tmp_path / "other").replace(path)
    assert len(follower.lines()) == 1


def test_a_long_file_is_read_in_looks_that_take_little(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "MAX_READ_BYTES", 64)
    path = tmp_path / "metrics"
    path.write_text("".join(f'{{"step": {n}}}\n' for n in range(50)))
    follower = JsonTail(path)
    found: list[dict[str, Any]] = []
    looks = 0
    while len(found) < 50:
        found += follower.objects()
        looks += 1
    assert looks > 5
    assert not follower.has_more
    assert [item["step"] for item in found] == list(range(50))


def test_broken_lines_are_counted_and_left_out(tmp_path):
    path = tmp_path / "metrics"
    path.write_text('{"step": 1}\n{"st\n[1]\n\n' + "[" * 50_000 + '\n{"step": 2}\n')
    follower = JsonTail(path)
    assert follower.objects() == [{"step": 1}, {"step": 2}]
    assert follower.num_broken == 3


def test_a_long_log_is_read_from_near_its_end(tmp_path):
    path = tmp_path / "log"
    path.write_text("x" * 100 + "\nlast\n")
    assert Tail(path, from_end_bytes=5).lines() == ["last"]
