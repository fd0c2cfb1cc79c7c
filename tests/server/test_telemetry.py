"""The snapshot: its form is what viewers are written against, so it is pinned."""

import json
import logging
import os
from typing import Any

import numpy as np
import pytest

from plugrl.data.progress import LearnProgress
from plugrl.protocol.messages import Infer
from plugrl.server.algorithm import RunIdentity
from plugrl.server.local import LocalWorker
from plugrl.server.loop import Loop
from plugrl.server.telemetry import SNAPSHOT_VERSION, Telemetry
from tests.server.conftest import Scripted, feedback_for, observe
from tests.server.loops import loop_of

FORM = {
    "version": None,
    "time": None,
    "run": {
        *("exp_name", "policy", "policy_variant", "algorithm", "algorithm_variant"),
        *("env", "total_steps", "run_dir", "start_step", "plugrl_version", "protocol_version"),
    },
    "phase": None,
    "stopping": None,
    "process": {"pid", "host", "cpu_seconds", "rss_bytes"},
    "counters": {
        *("global_step", "num_learns", "frames_kept", "frames_discarded", "discarded"),
        *("checkpoints_failed", "uptime_seconds", "steps_per_second", "frames_per_second"),
    },
    "infer_queue": {
        *("requests", "envs", "threshold_envs", "threshold_requests", "oldest_wait_seconds"),
        *("batches", "envs_taken", "missing", "batch_sizes", "wait_seconds", "infer_seconds"),
    },
    "workers": None,
    "learn": {"epoch", "num_epochs", "minibatch", "num_minibatches", "seconds"},
    "metrics": None,
    "checkpoints": None,
    "log_lines": None,
    "log": None,
}
WORKER = {
    *("id", "address", "state", "state_seconds", "envs", "frames_kept", "discarded"),
    *("frames_per_second", "step_seconds", "connected_seconds", "episodes", "return_mean"),
}


def loop_with_a_frame() -> Loop:
    """One worker has sent one frame that ended an episode, and one without step state."""
    algorithm = Scripted()
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    loop.infer(worker, Infer(observe(1), np.array([0]), np.zeros(1, np.int64)))
    (request,) = loop.batcher.take()
    loop._answer([request], algorithm.infer(request.infer.obs))
    done = feedback_for([0], done=True, episode={"r": np.array([3.0]), "l": np.array([1])})
    for _ in range(2):
        loop.collector.feedback(worker, done)
    return loop


def telemetry_of(loop: Loop) -> Telemetry:
    return Telemetry(loop, RunIdentity(exp_name="x"))


def test_the_snapshot_has_this_form_and_is_strict_json():
    loop = loop_with_a_frame()
    loop.progress = LearnProgress()
    loop.metrics = {"train/entropy": float("nan")}
    snapshot = json.loads(json.dumps(telemetry_of(loop).snapshot(), allow_nan=False))
    assert SNAPSHOT_VERSION == 1
    assert list(snapshot) == list(FORM)
    assert {key: set(snapshot[key]) for key, form in FORM.items() if form} == {
        key: form for key, form in FORM.items() if form
    }
    assert set(snapshot["workers"][0]) == WORKER
    assert snapshot["metrics"] == {"train/entropy": None}


def test_frames_are_counted_with_the_cause_of_those_discarded():
    snapshot = telemetry_of(loop_with_a_frame()).snapshot()
    counters, (worker,) = snapshot["counters"], snapshot["workers"]
    assert (counters["global_step"], counters["frames_kept"]) == (1, 1)
    assert (counters["frames_discarded"], counters["discarded"]["no_step_state"]) == (1, 1)
    assert (worker["frames_kept"], worker["discarded"]) == (1, {"no_step_state": 1})
    assert (worker["episodes"], worker["return_mean"]) == (2, 3.0)


def test_frames_a_second_are_those_that_came_kept_or_not():
    counters = telemetry_of(loop_with_a_frame()).snapshot()["counters"]
    both = counters["frames_per_second"] * counters["uptime_seconds"]
    assert both == pytest.approx(counters["frames_kept"] + counters["frames_discarded"])


def test_metrics_are_numbers_whatever_kind_of_number_an_algorithm_reports():
    loop = loop_with_a_frame()
    reported: Any = {"a": True, "b": np.float32(0.5), "c": np.int64(2), "d": float("nan")}
    loop.metrics = reported
    metrics = json.loads(json.dumps(telemetry_of(loop).snapshot()))["metrics"]
    assert list(map(repr, metrics.values())) == ["1.0", "0.5", "2.0", "None"]


def test_batches_and_the_envs_in_them_are_counted_from_the_start():
    queue = telemetry_of(loop_with_a_frame()).snapshot()["infer_queue"]
    assert (queue["batches"], queue["envs_taken"]) == (1, 1)


def test_the_snapshot_says_which_process_serves_and_whether_a_stop_was_asked_for():
    loop = loop_with_a_frame()
    telemetry = telemetry_of(loop)
    before = telemetry.snapshot()
    loop.request_stop()
    assert (before["stopping"], telemetry.snapshot()["stopping"]) == (False, True)
    assert before["process"]["pid"] == os.getpid()
    assert before["process"]["rss_bytes"] > 2**20


def test_without_a_learn_in_progress_there_is_none_to_show():
    assert telemetry_of(loop_with_a_frame()).snapshot()["learn"] is None


def test_prometheus_sees_each_name_described_once():
    loop = loop_with_a_frame()
    loop.metrics = {"train/entropy": 0.5, "train/kl": float("nan")}
    text = telemetry_of(loop).prometheus()
    assert text.count("# TYPE plugrl_frames_discarded_total counter\n") == 1
    assert 'plugrl_frames_discarded_total{cause="no_step_state"} 1.0\n' in text
    assert '# TYPE plugrl_metric gauge\nplugrl_metric{name="train/entropy"} 0.5\n' in text
    assert 'plugrl_metric{name="train/kl"} nan\n' in text


def test_the_latest_log_lines_are_in_the_snapshot():
    telemetry = telemetry_of(loop_with_a_frame())
    for number in range(300):
        telemetry.handle(logging.makeLogRecord({"msg": "line %d", "args": (number,)}))
    snapshot = telemetry.snapshot()
    assert snapshot["log_lines"] == 300
    lines = [line["text"] for line in snapshot["log"]]
    assert lines == [f"line {number}" for number in range(100, 300)]
