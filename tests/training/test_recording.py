import asyncio
import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plugrl.algorithms.ppo import PPO
from plugrl.config.server import ServerConfig
from plugrl.errors import CheckpointError, LearnDivergedError
from plugrl.runs import catalog, records
from plugrl.runs.provenance import Provenance
from plugrl.runs.records import RunState
from plugrl.training import checkpoint
from plugrl.training.run import TrainingRun, build_run
from tests.training.test_run import feed

KEY = "geheim-0123456789"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))


def train(run: TrainingRun) -> None:
    async def play() -> None:
        clients: list[asyncio.Task[None]] = []
        try:
            await run.run(
                handle_signals=False,
                on_listening=lambda url: clients.append(asyncio.create_task(feed(url))),
            )
        finally:
            # How the server closes on them is not looked at here.
            await asyncio.gather(*clients, return_exceptions=True)

    asyncio.run(play())


def events(run: TrainingRun) -> list[str]:
    return [event.event for event in records.read_events(run.run_dir)]


def test_a_run_leaves_its_record_its_status_its_events_and_its_log(spec, caplog):
    caplog.set_level("INFO", "plugrl")
    provenance = Provenance(argv=("plugrl", "launch", "--api-key", KEY), clients={"num_envs": 1})
    server = ServerConfig(port=0, api_key=None)
    run = build_run(spec(provenance=provenance, server=server, env="hopper"))
    train(run)
    record = records.read_run(run.run_dir)
    assert (record.exp_name, record.policy, record.algorithm) == ("exp", "gaussian-policy", "ppo")
    assert (record.env, record.total_steps) == ("hopper", 64)
    assert record.argv == ("plugrl", "launch", "--api-key", "KEY")
    assert set(record.config) == {"policy", "algo", "env", "server", "run", "track", "clients"}
    assert record.config["algo"]["rollout_steps"] == 32
    assert record.config["clients"] == {"num_envs": 1, "api_key": None}
    assert record.versions["torch"]
    status = records.read_status(run.run_dir)
    assert (status.state, status.step, status.num_learns) == (RunState.DONE, 64, 2)
    assert status.exit_code == 0
    assert status.last_checkpoint is not None
    assert Path(status.last_checkpoint.path, "state.json").exists()
    happened = events(run)
    assert happened[:3] == ["started", "listening", "worker_joined"]
    assert {"learn", "saved", "worker_lost"} <= set(happened)
    assert happened[-1] == "done"
    log = (run.run_dir / "log.txt").read_text()
    assert "==== attempt 1" in log
    assert "listening on ws://" in log
    assert [found.path for found in catalog.find_runs().found] == [run.run_dir]


def test_a_key_is_in_none_of_the_files(spec):
    server = ServerConfig(port=0, api_key=KEY)
    provenance = Provenance(argv=("x", f"--api-key={KEY}"), clients={"api_key": KEY})
    run = build_run(spec(server=server, provenance=provenance))
    run.server.request_stop()
    asyncio.run(run.run(handle_signals=False))
    assert records.read_run(run.run_dir).config["server"]["api_key"] is None
    for file in (file for file in run.run_dir.iterdir() if file.is_file()):
        assert KEY not in file.read_text(), file


def test_a_stopped_run_says_so(spec):
    run = build_run(spec())
    run.server.request_stop()
    asyncio.run(run.run(handle_signals=False))
    status = records.read_status(run.run_dir)
    assert (status.state, status.reason, status.exit_code) == (
        RunState.STOPPED,
        "stopped on request",
        0,
    )
    happened = events(run)
    assert [e for e in happened if e in {"stopping", "saved", "stopped"}] == [
        "stopping",
        "saved",
        "stopped",
    ]


def test_a_log_line_that_is_wrong_ends_nothing(spec, capsys):
    record = logging.LogRecord("plugrl", logging.WARNING, __file__, 1, "%d steps", ("many",), None)
    build_run(spec())._recording._lines.handle(record)
    assert "--- Logging error ---" in capsys.readouterr().err


def test_a_server_that_leaves_at_once_says_so_first(spec):
    run = build_run(spec())

    def leave(url: str) -> None:
        run.server.loop.observer.leaving()
        # As the server does then; it closes all handlers.
        logging.shutdown()
        status = records.read_status(run.run_dir)
        assert (status.state, status.exit_code) == (RunState.STOPPED, 130)
        assert "second signal" in (status.reason or "")
        run.server.request_stop()

    asyncio.run(run.run(handle_signals=False, on_listening=leave))
    assert [e for e in events(run) if e == "stopped"] == ["stopped"]


def longer(spec: Any, steps: int) -> Any:
    return replace(spec.algorithm_config, global_steps=steps)


def test_a_resumed_run_is_the_next_attempt_and_names_what_was_damaged(spec):
    first = build_run(spec())
    train(first)
    newest = max(int(p.name) for p in first.run_dir.iterdir() if p.name.isdigit())
    shutil.copytree(first.run_dir / str(newest), first.run_dir / "1000")
    (first.run_dir / "1000" / "model.safetensors").write_bytes(b"")
    created_at = records.read_run(first.run_dir).created_at
    algorithm = longer(spec(), 96)
    again = build_run(spec(run={"resume": True}, algorithm_config=algorithm))
    train(again)
    status = records.read_status(again.run_dir)
    assert (status.state, status.step, status.attempt) == (RunState.DONE, 96, 2)
    record = records.read_run(again.run_dir)
    assert (record.created_at, record.total_steps) == (created_at, 96)
    second = [e for e in records.read_events(again.run_dir) if e.attempt == 2]
    damaged, resumed = second[:2]
    assert (damaged.event, damaged.details["path"]) == ("damaged", str(again.run_dir / "1000"))
    assert (resumed.event, resumed.step) == ("resumed", newest)
    assert resumed.details["from"] == str(again.run_dir / str(newest))


def test_a_resume_that_finds_nothing_may_start_afresh_and_keeps_the_records(spec):
    first = build_run(spec())
    train(first)
    again = build_run(spec(run={"resume": True}), resume=lambda exp_dir: None)
    assert again.algorithm.global_step == 0
    train(again)
    starts = [e for e in records.read_events(again.run_dir) if e.event == "started"]
    assert [(e.attempt, e.step) for e in starts] == [(1, 0), (2, 0)]


def test_a_run_from_another_runs_checkpoint_names_it(spec, tmp_path):
    parent = build_run(spec(run={"exp_name": "parent"}))
    train(parent)
    step_dir = parent.run_dir / "64"
    algorithm = replace(spec().algorithm_config, policy_checkpoint_path=step_dir, restore="model")
    child = build_run(spec(algorithm_config=algorithm))
    child.server.request_stop()
    asyncio.run(child.run(handle_signals=False))
    assert records.read_run(child.run_dir).parent_checkpoint == str(step_dir)


def test_an_algorithm_that_fails_is_told_with_its_reason(spec, monkeypatch):
    def diverge(self: object, progress: object) -> None:
        raise LearnDivergedError("the loss is nan")

    monkeypatch.setattr(PPO, "learn", diverge)
    run = build_run(spec())
    with pytest.raises(LearnDivergedError):
        train(run)
    status = records.read_status(run.run_dir)
    assert (status.state, status.reason, status.exit_code) == (
        RunState.FAILED,
        reason := "the loss is nan; no checkpoint was written since the server started",
        1,
    )
    failed = records.read_events(run.run_dir)[-1]
    assert (failed.event, failed.details) == ("failed", {"why": reason})


def test_the_log_of_an_unforeseen_failure_has_the_traceback(spec, monkeypatch):
    def stumble(self: object, progress: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(PPO, "learn", stumble)
    run = build_run(spec())
    with pytest.raises(ZeroDivisionError):
        train(run)
    assert records.read_status(run.run_dir).reason == "ZeroDivisionError: by nought"
    log = (run.run_dir / "log.txt").read_text()
    assert "Traceback" in log
    assert "in stumble" in log


def test_a_save_that_fails_is_an_event_and_the_run_goes_on(spec):
    failures = iter([True])

    def save(*arguments: Any) -> Any:
        if next(failures, False):
            raise OSError("the disk is full")
        return checkpoint.save(*arguments)

    saving_twice = replace(spec().algorithm_config, save_interval=1)
    run = build_run(spec(algorithm_config=saving_twice), save=save)
    train(run)
    failed = [e for e in records.read_events(run.run_dir) if e.event == "save_failed"]
    assert [e.details["why"] for e in failed] == ["OSError: the disk is full"]
    assert records.read_status(run.run_dir).state is RunState.DONE


def test_a_last_save_that_fails_makes_the_run_fail(spec):
    def save(*arguments: Any) -> Any:
        raise OSError("the disk is full")

    run = build_run(spec(), save=save)
    with pytest.raises(CheckpointError):
        train(run)
    status = records.read_status(run.run_dir)
    assert status.state is RunState.FAILED
    assert status.last_checkpoint is None


def test_of_many_learns_in_ten_seconds_one_is_an_event(spec):
    run = build_run(spec(algorithm_config=longer(spec(), 64 * 8)))
    train(run)
    lines = (run.run_dir / "metrics.jsonl").read_text().splitlines()
    learns = [line for line in lines if "step" in json.loads(line)]
    assert 1 <= events(run).count("learn") < len(learns)
