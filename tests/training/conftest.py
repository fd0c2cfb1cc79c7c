from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrl.algorithms.algorithm import Algorithm, TrainState
from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.config.server import RunConfig, ServerConfig
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.policies.gaussian import GaussianPolicy
from plugrl.protocol.messages import Observation
from plugrl.training.checkpoint import Origin
from plugrl.training.spec import RunSpec
from tests.origins import of_ppo

SIZES = EnvSizes(obs_dim=3, action_dim=2)
POLICY = GaussianConfig(hidden_sizes=(8,))
ALGORITHM = PPOConfig(global_steps=256, rollout_steps=32, num_minibatches=4, num_epochs=2)


@pytest.fixture
def origin() -> Origin:
    return of_ppo(POLICY, ALGORITHM, SIZES, variant="debug")


@pytest.fixture
def make_state() -> Callable[..., TrainState]:
    def make(step: int = 64, **model: Any) -> TrainState:
        return TrainState(
            model=model or {"actor.weight": np.arange(6, dtype=np.float32).reshape(2, 3)},
            optimizer={"adam.step": np.array(7.0)},
            counters={
                "global_step": step,
                "num_learns": step // 32,
                "episodes": {"returns": [1]},
            },
        )

    return make


@pytest.fixture
def make_ppo() -> Callable[[], Algorithm[Any]]:
    def make() -> Algorithm[Any]:
        torch.manual_seed(0)
        return PPO(ALGORITHM, GaussianPolicy(POLICY, SIZES, seed=1), seed=2)

    return make


@pytest.fixture
def train() -> Callable[[Algorithm[Any], int], None]:
    """Learn some more rounds from frames that depend only on the step and on the policy."""

    def run(algorithm: Algorithm[Any], num_learns: int) -> None:
        for _ in range(num_learns):
            collect(algorithm)
            algorithm.learn(LearnProgress())

    return run


@pytest.fixture
def collected() -> Callable[[Algorithm[Any]], None]:
    return collect


@pytest.fixture
def spec(tmp_path) -> Callable[..., RunSpec]:
    """A small PPO run in a folder of its own; ``run`` takes fields of the run's config."""

    def make(*, run: dict[str, Any] | None = None, **fields: Any) -> RunSpec:
        defaults: dict[str, Any] = {
            "policy": "gaussian-policy",
            "policy_config": POLICY,
            "algorithm": "ppo",
            "algorithm_config": PPOConfig(
                global_steps=64, rollout_steps=32, num_minibatches=4, num_epochs=2
            ),
            "sizes": SIZES,
            "server": ServerConfig(port=0),
            "run": RunConfig(
                **{"checkpoint_base_dir": tmp_path / "base", "exp_name": "exp"} | (run or {})
            ),
        }
        return RunSpec(**defaults | fields)

    return make


def collect(algorithm: Algorithm[Any]) -> None:
    """Two envs, until a learn is due."""
    sequence = algorithm.global_step // 2
    while not algorithm.should_learn():
        obs = _obs(sequence)
        inference = algorithm.infer(obs)
        done = np.array([sequence % 5 == 4, False])
        algorithm.feedback(
            Frames(
                streams=np.arange(2),
                sequence=np.full(2, sequence),
                obs=obs,
                actions=inference.actions,
                step_state=inference.step_state,
                rewards=inference.actions.reshape(2, -1).sum(axis=1).astype(np.float64),
                next_terminated=done,
                next_truncated=np.zeros(2, bool),
                next_obs=_obs(sequence + 1),
                info={"episode": {"r": np.array([float(sequence)] * 2), "l": np.array([5, 5])}},
            )
        )
        sequence += 1


def _obs(step: int) -> Observation:
    angles = step + np.arange(6).reshape(2, 3)
    return Observation({}, {"state": np.sin(angles)}, np.array(["", ""]))


def same_state(left: TrainState, right: TrainState) -> bool:
    """Bit for bit."""
    for one, other in ((left.model, right.model), (left.optimizer, right.optimizer)):
        if one.keys() != other.keys():
            return False
        for name in one:
            a, b = np.asarray(one[name]), np.asarray(other[name])
            if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
                return False
    return dict(left.counters) == dict(right.counters)


@pytest.fixture
def equal() -> Callable[[TrainState, TrainState], bool]:
    return same_state
