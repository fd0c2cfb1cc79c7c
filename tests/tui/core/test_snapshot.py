"""What the server really sends is understood, and what it never sends is refused in a sentence."""

import json
from typing import Any

import pytest

from plugrl.data.progress import LearnProgress
from plugrl_tui.core.snapshot import Reply, Snapshot, SnapshotError, parse
from tests.server.test_telemetry import loop_with_a_frame, telemetry_of


def sent() -> dict[str, Any]:
    loop = loop_with_a_frame()
    loop.progress = LearnProgress()
    loop.metrics = {"train/entropy": float("nan"), "train/kl": 0.5}
    telemetry = telemetry_of(loop)
    data: dict[str, Any] = json.loads(json.dumps(telemetry.snapshot()))
    return data


def test_a_server_s_own_snapshot_is_understood():
    snapshot = parse(json.dumps(sent()))
    assert isinstance(snapshot, Snapshot)
    assert snapshot.run.exp_name == "x"
    assert snapshot.counters.global_step == 1
    assert snapshot.counters.discarded["no_step_state"] == 1
    assert snapshot.queue.batches == 1
    assert snapshot.queue.wait is not None
    assert snapshot.workers[0].return_mean == 3.0
    assert snapshot.learn is not None
    assert snapshot.metrics == {"train/entropy": None, "train/kl": 0.5}
    assert snapshot.process.pid


def test_what_a_newer_server_adds_is_skipped_and_what_an_older_one_lacks_has_a_default():
    data = sent() | {"gpu": 7}
    data["workers"][0]["colour"] = "red"
    del data["process"], data["stopping"], data["log_lines"]
    snapshot = parse(json.dumps(data))
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.process.pid, snapshot.stopping, snapshot.log_lines) == (None, False, None)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_named_with_the_remedy(version):
    with pytest.raises(SnapshotError, match=r"expected snapshot version 1, got .*install the same"):
        parse(json.dumps(sent() | {"version": version}))


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"version": 1}', b"\xff\xfe", "[" * 100_000])
def test_anything_else_is_refused_with_a_sentence(text):
    with pytest.raises(SnapshotError):
        parse(text)


@pytest.mark.parametrize("key", ["infer_queue", "workers", "counters", "log", "run"])
def test_a_part_of_the_wrong_form_is_refused_with_a_sentence(key):
    with pytest.raises(SnapshotError, match="version 1"):
        parse(json.dumps(sent() | {key: 3}))


def test_answers_to_commands_are_told_apart():
    assert parse('{"accepted": "save"}') == Reply(accepted="save")
    assert parse('{"error": "no"}') == Reply(error="no")
