import asyncio
import dataclasses
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect

from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.config.server import ServerConfig
from plugrl.errors import (
    CheckpointMismatchError,
    CheckpointNotFoundError,
    IncompatibleError,
    RunExistsError,
    UsageError,
)
from plugrl.server.loop import StopReason
from plugrl.server.telemetry import Telemetry
from plugrl.training import checkpoint
from plugrl.training.run import TrainingRun, build_run

TINY_PPO = PPOConfig(global_steps=64, rollout_steps=32, num_minibatches=4, num_epochs=2)


def metrics_of(run: TrainingRun) -> list[dict[str, Any]]:
    text = (run.run_dir / "metrics.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def weights(run: TrainingRun) -> dict[str, Any]:
    return dict(run.algorithm.state().model)


def test_building_a_run_leaves_no_trace(spec, tmp_path):
    run = build_run(spec())
    assert run.algorithm.global_step == 0
    assert list(tmp_path.iterdir()) == []


def test_viewers_are_told_the_env_that_the_server_was_given(spec):
    run = build_run(spec(env="hopper"))
    telemetry = Telemetry(run.server.loop, run.server.identity)
    assert telemetry.snapshot()["run"]["env"] == "hopper"


def test_the_same_seed_builds_the_same_weights_and_another_builds_others(spec):
    one, same, other = (build_run(spec(run={"seed": seed})) for seed in (3, 3, 4))
    assert all(np.array_equal(v, weights(same)[n]) for n, v in weights(one).items())
    assert any(not np.array_equal(v, weights(other)[n]) for n, v in weights(one).items())


@pytest.mark.parametrize(
    ("error", "match", "change"),
    [
        (
            IncompatibleError,
            "which 'dummy-policy' has not; choose one of categorical-policy, gaussian-policy",
            {"policy": "dummy-policy", "policy_config": DummyPolicyConfig()},
        ),
        (UsageError, "--env NAME", {"sizes": None}),
        (
            UsageError,
            "fit into memory",
            {"policy_config": GaussianConfig(hidden_sizes=(10**7, 10**7))},
        ),
        (UsageError, "device", {"policy_config": GaussianConfig(device="nowhere")}),
        (
            CheckpointNotFoundError,
            "no checkpoint at /nowhere",
            {
                "algorithm_config": dataclasses.replace(
                    TINY_PPO, policy_checkpoint_path=Path("/nowhere")
                )
            },
        ),
        (CheckpointNotFoundError, "FileNotFoundError", {"run": {"resume": True}}),
    ],
)
def test_what_cannot_work_is_refused_without_a_trace(spec, tmp_path, error, match, change):
    with pytest.raises(error, match=match):
        build_run(spec(**change))
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_refused_without_a_trace(spec, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = ServerConfig(port=taken.getsockname()[1])
        run = build_run(spec(server=server))
        with pytest.raises(UsageError, match="can't listen"):
            asyncio.run(run.run(handle_signals=False))
    assert list(tmp_path.iterdir()) == []


async def feed(url: str) -> None:
    """A client that plays until the server closes."""
    from plugrl.protocol.messages import Feedback, Infer, Observation
    from plugrl.protocol.wire import encode

    obs = Observation({}, {"state": np.zeros((1, 3))}, np.array([""]))
    first = np.zeros(1, np.int64)
    async with connect(url, compression=None) as socket:
        await socket.recv()
        while True:
            await socket.send(encode(Infer(obs, first, first)))
            await socket.recv()
            no = np.zeros(1, bool)
            await socket.send(encode(Feedback(first, first, obs, np.ones(1), no, no, {})))


async def train_over_a_socket(run: TrainingRun) -> StopReason:
    client: list[asyncio.Task[None]] = []
    reason = await run.run(
        handle_signals=False,
        on_listening=lambda url: client.append(asyncio.create_task(feed(url))),
    )
    await asyncio.wait(client)
    client[0].exception()
    return reason


def test_a_run_trains_saves_and_writes_metrics(spec, capsys):
    run = build_run(spec())
    reason = asyncio.run(train_over_a_socket(run))
    assert reason is StopReason.FINISHED
    assert checkpoint.load_newest(run.run_dir).step == 64
    lines = metrics_of(run)
    assert [line["step"] for line in lines] == [0, 32, 64]
    assert "step 32/64 (50%)" in capsys.readouterr().out


def test_a_run_goes_on_where_it_stopped_and_resume_is_injectable(spec, capsys):
    first = build_run(spec())
    asyncio.run(train_over_a_socket(first))
    longer = dataclasses.replace(TINY_PPO, global_steps=96)
    asked: list[object] = []

    def resume(exp_dir: Any) -> checkpoint.LoadedCheckpoint:
        asked.append(exp_dir)
        return checkpoint.load_newest(exp_dir)

    second = build_run(spec(algorithm_config=longer, run={"resume": True}), resume=resume)
    assert asked == [first.run_dir]
    assert (second.algorithm.global_step, second.algorithm.num_learns) == (64, 2)
    asyncio.run(train_over_a_socket(second))
    lines = metrics_of(first)
    assert [(line.get("event"), line["step"]) for line in lines[-2:]] == [
        ("resumed", 64),
        (None, 96),
    ]


def test_another_variant_is_refused_on_resume_and_the_folder_stays_free(spec, capsys):
    asyncio.run(train_over_a_socket(build_run(spec())))
    with pytest.raises(CheckpointMismatchError, match="'debug', got one of 'default'"):
        build_run(spec(run={"resume": True}, algorithm_variant="debug"))
    build_run(spec(run={"resume": True}))


def test_a_warm_start_with_nothing_left_to_train_is_refused(spec, tmp_path, capsys):
    first = build_run(spec())
    asyncio.run(train_over_a_socket(first))
    warm = dataclasses.replace(TINY_PPO, policy_checkpoint_path=first.run_dir / "64")
    with pytest.raises(UsageError, match=r"above the step of the checkpoint, 64, got 64; .*larger"):
        build_run(spec(algorithm_config=warm, run={"exp_name": "warm"}))
    for change in ({"global_steps": 96}, {"restore": "model"}):
        changed = dataclasses.replace(warm, **change)
        build_run(spec(algorithm_config=changed, run={"exp_name": "warm"}))


def test_an_existing_experiment_is_refused(spec, tmp_path):
    (tmp_path / "base" / "ppo" / "gaussian-policy" / "exp").mkdir(parents=True)
    with pytest.raises(RunExistsError, match="FileExistsError"):
        build_run(spec())


def test_every_save_goes_through_the_function_given(spec, capsys):
    steps: list[int] = []

    def save(exp_dir: Any, *rest: Any) -> Any:
        saved = checkpoint.save(exp_dir, *rest)
        steps.append(saved.step)
        return saved

    dummy = DummyConfig(global_steps=8, fake_learn_freq=4, save_interval=10)
    run = build_run(
        spec(
            policy="dummy-policy",
            policy_config=DummyPolicyConfig(),
            algorithm="dummy",
            algorithm_config=dummy,
        ),
        save=save,
    )
    asyncio.run(train_over_a_socket(run))
    assert steps == [8]


@pytest.mark.parametrize(
    ("names", "check"),
    [
        ("dummy-policy default dummy default", "'torch' not in sys.modules"),
        (
            "gaussian-policy default ppo debug --policy.obs-dim=3 --policy.action-dim=1",
            "sys.modules['torch'].get_num_threads() == 1",
        ),
    ],
    ids=["none", "one thread"],
)
def test_torch_is_there_for_those_who_need_it_with_the_threads_it_may_have(names, check):
    script = f"""if True:
        import sys
        from plugrl.cli.run_server import read_order
        from plugrl.runs.provenance import Provenance
        order = read_order("{names} --port=0".split(), "prog", Provenance(argv=()))
        order.build()
        assert {check}
    """
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
