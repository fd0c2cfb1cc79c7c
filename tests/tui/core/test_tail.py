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


def test_broken_lines_are_left_out(tmp_path):
    path = tmp_path / "metrics"
    path.write_text('{"step": 1}\n{"st\n[1]\n\n' + "[" * 50_000 + '\n{"step": 2}\n')
    assert JsonTail(path).objects() == [{"step": 1}, {"step": 2}]


@pytest.mark.parametrize(("from_end", "lines"), [(5, ["last"]), (7, ["last"]), (4, [])])
def test_a_long_log_is_read_from_near_its_end_and_from_the_start_of_a_line(
    tmp_path, from_end, lines
):
    path = tmp_path / "log"
    path.write_text("x" * 100 + "\nlast\n")
    follower = Tail(path, from_end_bytes=from_end)
    assert follower.lines() == lines
    with path.open("a") as file:
        file.write("new\n")
    assert follower.lines() == ["new"]


def test_a_file_that_is_gone_in_the_middle_leaves_nothing_to_wait_for(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "MAX_READ_BYTES", 8)
    path = tmp_path / "metrics"
    path.write_text('{"step": 1}\n{"step": 2}\n')
    follower = JsonTail(path)
    follower.objects()
    assert follower.has_more
    path.unlink()
    assert follower.objects() == []
    assert not follower.has_more


def test_a_line_without_an_end_is_handed_over_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 8)
    path = tmp_path / "log"
    path.write_text("x" * 20)
    assert Tail(path).lines() == ["x" * 20]
