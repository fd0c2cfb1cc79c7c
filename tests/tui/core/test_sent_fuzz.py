"""Whatever JSON a server sends, MONITOR and ``watch`` show it or say in a sentence why not."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from plugrl.cli.table import harmless
from plugrl_tui import plain
from plugrl_tui.core import format as fmt
from plugrl_tui.core.model import RunModel
from plugrl_tui.core.snapshot import Reply, Snapshot, SnapshotError, parse
from plugrl_tui.widgets.chart import ChartPane
from plugrl_tui.widgets.discard_pane import DiscardPane
from plugrl_tui.widgets.host_strip import HostStrip
from plugrl_tui.widgets.infer_pane import InferPane
from plugrl_tui.widgets.learn_pane import LearnPane
from plugrl_tui.widgets.log_view import LogView
from plugrl_tui.widgets.run_pane import RunPane
from plugrl_tui.widgets.topbar import NoticeLine, TopBar
from plugrl_tui.widgets.worker_table import WorkerTable
from tests.tui.core.test_snapshot import sent

Path_ = tuple[str | int, ...]
PANES: tuple[type[RunPane], ...] = (
    *(TopBar, NoticeLine, InferPane, WorkerTable, DiscardPane, LearnPane, ChartPane, LogView),
    HostStrip,
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([2**63 - 1, -(2**63), 10**400, 5e-324, -1e308, 1e308, float("inf")]),
)
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)


@functools.cache
def text_sent() -> str:
    data = sent()
    second = {**data["workers"][0], "id": 1, "state": "stepping"}
    data["workers"].append(second)
    data["checkpoints"].append({"path": "/runs/x/1", "step": 1, "bytes": 9, "seconds": 0.1})
    data["log"].append({"time": 1.0, "level": "INFO", "text": "one"})
    return json.dumps({**data, "log_lines": len(data["log"])})


def paths(data: Any, here: Path_ = ()) -> Iterator[Path_]:
    yield here
    steps: Any = data.items() if isinstance(data, dict) else ()
    for step, item in enumerate(data) if isinstance(data, list) else steps:
        yield from paths(item, (*here, step))


def put(data: Any, path: Path_, value: Any) -> Any:
    if not path:
        return value
    parent = functools.reduce(lambda place, step: place[step], path[:-1], data)
    parent[path[-1]] = value
    return data


@st.composite
def messages(draw: st.DrawFn) -> str:
    """A server's own snapshot, of which one to three parts are something else."""
    data = json.loads(text_sent())
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(paths(data))[1:]))
        is_number = isinstance(functools.reduce(lambda place, step: place[step], path, data), float)
        data = put(data, path, draw(NUMBERS if is_number and draw(st.booleans()) else VALUES))
    return json.dumps(data)


def look_at(model: RunModel) -> None:
    """All that MONITOR and ``watch`` make of it, without the net that panes have for mistakes."""
    for line in model.log:
        written = harmless(f"{fmt.clock(line.time)} {line.level} {line.text}")
        assert written.encode().decode() == written
    assert harmless(plain.line_of(model)).encode()
    for kind in PANES:
        pane = kind(model, id="pane")
        for pane.zoomed in (False, True):
            for width, height in ((20, 4), (80, 20)):
                assert pane.rows(width, height) is not None


def sent_with(path: Path_, value: Any) -> str:
    return json.dumps(put(json.loads(text_sent()), path, value))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=200)
@given(messages())
@example(sent_with(("log", 0, "time"), 1e308))
@example(sent_with(("log", 0, "time"), -1e17))
@example(sent_with(("log", 0, "text"), "\ud800"))
@example(sent_with(("process", "cpu_seconds"), -1e308))
@example(sent_with(("infer_queue", "batch_sizes"), [-(2**62), 2**62]))
@example(sent_with(("counters", "discarded"), {"a": 2**62, "b": -(2**62)}))
@example(sent_with(("workers", 1, "id"), 0))
@example(sent_with(("metrics",), {"rollout/episode_return_mean": -1e308, "[x": 5e-324}))
def test_a_snapshot_with_anything_in_it_is_shown_or_refused_in_a_sentence(text):
    now = [1000.0]
    model = RunModel(name="x", url="ws://127.0.0.1:1", clock=lambda: now[0])
    # Without a log and one learn earlier, so that both are taken from what follows.
    good = json.loads(text_sent()) | {"log": [], "log_lines": 0}
    good["counters"]["num_learns"] -= 1
    for step in (0, 2):
        model.take_snapshot(snapshot_of(json.dumps({**good, "time": good["time"] + step})))
    taken = parsed(text)
    if not isinstance(taken, Snapshot):
        return
    for seconds in (0.0, 2.0):
        later = taken.counters._replace(num_learns=taken.counters.num_learns + int(seconds))
        model.take_snapshot(taken._replace(time=taken.time + seconds, counters=later))
        look_at(model)
    model.take_snapshot(snapshot_of(text_sent()))
    look_at(model)


def parsed(text: str) -> Snapshot | Reply | None:
    """What the text says; None where it is refused, in one line that can be printed."""
    try:
        return parse(text)
    except SnapshotError as error:
        complaint = str(error)
    assert complaint.isprintable(), complaint
    return None


def snapshot_of(text: str) -> Snapshot:
    taken = parse(text)
    assert isinstance(taken, Snapshot)
    return taken


@settings(deadline=None, max_examples=100)
@given(VALUES)
def test_any_json_is_a_snapshot_or_is_refused_in_a_sentence(value):
    parsed(json.dumps(value))


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("counters", "global_step"), "many", "an integer of 64 bits, got 'many', at $.counters.g"),
        (("workers", 1, "step_seconds"), None, "a finite number, got None, at $.workers[1].step_s"),
        (("workers", 1), 7, "an object, got 7, at $.workers[1]"),
        (("infer_queue", "missing"), [1, "x"], "integer of 64 bits, got 'x', at $.infer_queue.mis"),
        (("infer_queue", "wait_seconds"), {"p50": 1}, "field 'p95', got none, at $.infer_queue.wa"),
        (("metrics", "train/kl"), [], "a finite number, got [], at $.metrics['train/kl']"),
        (("metrics", "a\n\x1b"), "x", "a finite number, got 'x', at $.metrics['a\\n\\x1b']"),
        (("stopping",), 1, "true or false, got 1, at $.stopping"),
        (("time",), float("inf"), "a finite number, got inf, at $.time"),
        (("run", "exp_name"), 3, "a string, got 3, at $.run.exp_name"),
        (("log", 0, "text"), {}, "a string, got {}, at $.log[0].text"),
        (("counters", "frames_kept"), 2**63, "an integer of 64 bits, got 9223372036854775808, at"),
        (("checkpoints",), {}, "a list, got {}, at $.checkpoints"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path, value, complaint):
    with pytest.raises(SnapshotError) as caught:
        parse(sent_with(path, value))
    assert complaint in str(caught.value)
    assert str(caught.value).isprintable()
    assert str(caught.value).startswith("not a snapshot of version 1: expected ")
