import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrl.config.base import EnvSizes
from plugrl.config.evaluation import EvaluationConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig, Restore
from plugrl.errors import CheckpointDamagedError, CheckpointMismatchError
from plugrl.training import checkpoint
from plugrl.training.restore import restore
from plugrl.training.run import TrainingRun, build_run
from tests.origins import of_ppo

SIZES = EnvSizes(obs_dim=3, action_dim=2)
TINY_PPO = PPOConfig(global_steps=64, rollout_steps=32, num_minibatches=4, num_epochs=2)


@pytest.fixture
def saved(spec, train, tmp_path) -> checkpoint.LoadedCheckpoint:
    """A checkpoint of one learn, of another experiment."""
    run = build_run(spec(run={"seed": 7, "exp_name": "before"}))
    train(run.algorithm, 1)
    origin = of_ppo(GaussianConfig(hidden_sizes=(8,)), TINY_PPO, SIZES)
    path = checkpoint.save(tmp_path / "saved", origin, run.algorithm.state(), {}).path
    return checkpoint.load(path)


def warm(path: Path, how: Restore = "all") -> PPOConfig:
    return dataclasses.replace(TINY_PPO, policy_checkpoint_path=path, restore=how)


def weights(run: TrainingRun) -> dict[str, Any]:
    return dict(run.algorithm.state().model)


def test_a_warm_start_takes_all_by_default(spec, saved, equal):
    config = warm(saved.path)
    run = build_run(spec(algorithm_config=config))
    assert equal(run.algorithm.state(), saved.state)
    assert run.algorithm.global_step == 32


def test_a_warm_start_of_the_model_takes_the_weights_only(spec, saved):
    config = warm(saved.path, how="model")
    run = build_run(spec(algorithm_config=config))
    assert all(np.array_equal(v, saved.state.model[n]) for n, v in weights(run).items())
    assert (run.algorithm.global_step, run.algorithm.num_learns) == (0, 0)


def test_a_warm_start_except_the_critic_leaves_the_critic_fresh(spec, saved):
    config = warm(saved.path, how="except-critic")
    started, fresh = weights(build_run(spec(algorithm_config=config))), weights(build_run(spec()))
    critic = {name for name in started if name.startswith("critic.")}
    assert critic
    assert all(np.array_equal(started[n], fresh[n]) for n in critic)
    assert all(np.array_equal(started[n], saved.state.model[n]) for n in started.keys() - critic)


def test_an_evaluation_takes_the_weights_and_the_sizes_of_the_checkpoint(spec, saved):
    config = EvaluationConfig(policy_checkpoint_path=saved.path)
    run = build_run(spec(algorithm="eval", algorithm_config=config, sizes=None))
    assert all(np.array_equal(v, saved.state.model[n]) for n, v in weights(run).items())
    assert run.algorithm.global_step == 0


def test_weights_of_another_architecture_are_refused_by_name(spec, saved):
    config = warm(saved.path)
    with pytest.raises(CheckpointMismatchError, match=r"model\.\w+"):
        build_run(spec(algorithm_config=config, policy_config=GaussianConfig(hidden_sizes=(16,))))


def test_a_resume_goes_before_a_warm_start(spec, saved, train):
    own = build_run(spec())
    train(own.algorithm, 2)
    checkpoint.save(own.run_dir, saved.origin, own.algorithm.state(), {})
    run = build_run(spec(run={"resume": True}, algorithm_config=warm(saved.path)))
    assert run.algorithm.global_step == 64


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("optimizer", {"rng.policy": np.zeros(3, np.uint8)}),
        ("optimizer", {"rng.policy": ...}),
        ("counters", {"rewards": {}}),
        ("counters", {"episodes": [1]}),
        ("counters", {"num_learns": "2"}),
        ("counters", {"episodes": {"num_episodes": "1", "returns": []}}),
        ("counters", {"episodes": {"num_episodes": 1, "returns": ["a"]}}),
    ],
    ids=[
        "a short generator",
        "no generator",
        "no moments",
        "episodes of another form",
        "a count that is a text",
        "episodes counted by a text",
        "a return that is a text",
    ],
)
def test_a_state_that_the_algorithm_cannot_take_is_one_sentence(spec, saved, part, changes):
    chosen = spec(algorithm_config=warm(saved.path))
    entries = {**getattr(saved.state, part), **changes}
    entries = {name: value for name, value in entries.items() if value is not ...}
    start = dataclasses.replace(saved, state=dataclasses.replace(saved.state, **{part: entries}))
    with pytest.raises(CheckpointDamagedError, match="expected the state of a PPO"):
        restore(chosen, build_run(spec()).algorithm, start, start.origin)
