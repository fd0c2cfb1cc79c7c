import json
from collections.abc import Callable
from typing import TextIO

from plugrl.training.tracking.jsonl import JsonlSink


def lines(path) -> list[dict[str, object]]:
    def strict(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    found = [
        json.loads(line, parse_constant=strict)
        for line in (path / "metrics.jsonl").read_text().splitlines()
    ]
    for line in found:
        assert isinstance(line.pop("time"), float)
    return found


def test_each_learn_is_one_line_that_can_be_read_at_once(tracked, tmp_path):
    sink = JsonlSink(tracked())
    sink.write(10, {"train/loss": 0.5})
    assert lines(tmp_path) == [
        {"event": "started", "step": 0},
        {"step": 10, "train/loss": 0.5},
    ]
    sink.close()


def test_a_line_that_finds_the_disk_full_comes_with_a_later_one(
    tracked, tmp_path, monkeypatch, caplog
):
    sink = JsonlSink(tracked())

    def full() -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(sink, "_file", Unflushable(sink._file, full))
        sink.write(10, {})
    assert "metrics.jsonl NOT WRITTEN at step 10: [Errno 28] No space left" in caplog.text
    sink.write(20, {})
    assert [line["step"] for line in lines(tmp_path)] == [0, 10, 20]
    sink.close()


class Unflushable:
    """A file whose buffer goes nowhere."""

    def __init__(self, file: TextIO, flush: Callable[[], None]) -> None:
        self.write = file.write
        self.flush = flush


def test_numbers_that_json_cannot_say_are_null(tracked, tmp_path):
    sink = JsonlSink(tracked())
    sink.write(1, {"a": float("nan"), "b": float("inf"), "c": float("-inf"), "d": 1.0})
    sink.close()
    assert lines(tmp_path)[1] == {"step": 1, "a": None, "b": None, "c": None, "d": 1.0}


def test_a_resumed_run_appends_and_marks_where_it_went_back_to(tracked, tmp_path):
    for run in (tracked(), tracked(resumed=True, start_step=10)):
        sink = JsonlSink(run)
        sink.write(run.start_step + 10, {})
        sink.write(run.start_step + 20, {})
        sink.close()
    assert [(line.get("event"), line["step"]) for line in lines(tmp_path)] == [
        ("started", 0),
        (None, 10),
        (None, 20),
        ("resumed", 10),
        (None, 20),
        (None, 30),
    ]


def test_a_line_that_a_killed_process_left_unfinished_is_cut(tracked, tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "time": 1.5}\n{"step": 2, "tr')
    JsonlSink(tracked(resumed=True, start_step=1)).close()
    assert [line["step"] for line in lines(tmp_path)] == [1, 1]
