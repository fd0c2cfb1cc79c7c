import logging
import threading
from collections.abc import Mapping

from plugrl.training.tracking.tracker import SinkThread, Tracker


class Kept:
    """A sink that keeps what it is given, once the gate is open, and can fail."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.fail_at = fail_at
        self.steps: list[int] = []
        self.closed = False
        self.gate = threading.Event()
        self.gate.set()
        self.busy = threading.Event()

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        self.busy.set()
        self.gate.wait()
        if step == self.fail_at:
            raise ConnectionError("down")
        self.steps.append(step)

    def close(self) -> None:
        self.closed = True


def test_every_sink_gets_every_report_in_order_and_is_closed():
    one, two = Kept(), Kept()
    tracker = Tracker({"one": lambda: one, "two": lambda: two})
    for step in range(50):
        tracker.report({"x": 1.0}, step)
    tracker.close()
    assert one.steps == two.steps == list(range(50))
    assert one.closed
    assert two.closed


def test_a_sink_that_raises_is_disabled_loudly_and_the_others_go_on(caplog):
    bad, good = Kept(fail_at=1), Kept()
    tracker = Tracker({"bad": lambda: bad, "good": lambda: good})
    for step in range(5):
        tracker.report({}, step)
    tracker.close()
    assert bad.steps == [0]
    assert bad.closed
    assert good.steps == [0, 1, 2, 3, 4]
    assert [(r.levelno, r.message) for r in caplog.records] == [
        (
            logging.ERROR,
            "bad is disabled for the rest of the run: ConnectionError: down",
        )
    ]


def test_a_sink_that_cannot_be_opened_is_disabled_loudly(caplog):
    def refuse() -> Kept:
        raise SystemExit("log in first")

    tracker = Tracker({"refused": refuse})
    tracker.report({}, 1)
    tracker.close()
    assert "refused is disabled for the rest of the run: SystemExit: log in first" in caplog.text


def test_a_slow_sink_loses_the_oldest_reports_and_says_so_once(caplog):
    sink = Kept()
    sink.gate.clear()
    thread = SinkThread("slow", lambda: sink, max_queued=3)
    thread.put(0, {})
    assert sink.busy.wait(5)
    for step in range(1, 10):
        thread.put(step, {})
    sink.gate.set()
    # Behind the three newest, the end takes the place of the oldest of them.
    thread.finish()
    thread.join(5)
    assert sink.steps[0] == 0
    assert sink.steps[-2:] == [8, 9]
    assert caplog.text.count("slow is too slow") == 1


def test_a_sink_that_never_ends_is_left_behind(caplog):
    sink = Kept()
    sink.gate.clear()
    tracker = Tracker({"stuck": lambda: sink})
    tracker.report({}, 0)
    assert sink.busy.wait(5)
    tracker.close(timeout_s=0.01)
    sink.gate.set()
    assert "stuck did not close within its time" in caplog.text
