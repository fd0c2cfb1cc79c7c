import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrl.config.base import EnvSizes
from plugrl.config.ppo import PPOConfig
from plugrl.data.progress import LearnProgress
from plugrl.protocol.messages import Observation
from plugrl.registry import ALGORITHMS, POLICIES, load_plugins

SIZES = EnvSizes(obs_dim=2, action_dim=2)


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Registers the examples, for the length of a test."""
    modules = ["examples.custom_policy", "examples.custom_algorithm"]
    monkeypatch.syspath_prepend(request.config.rootpath)
    for registry in (POLICIES, ALGORITHMS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    for module in modules:
        monkeypatch.delitem(sys.modules, module, raising=False)
    load_plugins(modules)


@pytest.mark.many_examples
def test_the_custom_policy_learns_by_ppo(drive: Any, target: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    policy = POLICIES.cls("shared-trunk")(POLICIES.variant("shared-trunk", "small"), SIZES)
    config = PPOConfig(rollout_steps=512, num_minibatches=8, learning_rate=3e-3)
    metrics = drive(ALGORITHMS.cls("ppo")(config, policy), target(8), 12)
    assert metrics[-1]["rollout/episode_return_mean"] > -6
    policy.check_observation(_obs(target))
    assert policy.act(_obs(target), deterministic=True).actions.shape == (3, 1, 2)
    assert policy.metadata() == {"action_dim": 2, "action_horizon": 1}


@pytest.mark.many_examples
def test_the_custom_algorithm_climbs_and_resumes(drive: Any, target: Callable[..., Any]) -> None:
    def climber() -> Any:
        torch.manual_seed(0)
        policy = POLICIES.cls("gaussian-policy")(
            POLICIES.variant("gaussian-policy", "default"), SIZES
        )
        return ALGORITHMS.cls("hill-climbing")(
            ALGORITHMS.variant("hill-climbing", "default"), policy
        )

    algorithm, world = climber(), target(10)
    metrics = drive(algorithm, world, 30)
    assert metrics[-1]["train/best_reward"] > metrics[0]["train/reward"]
    resumed = climber()
    resumed.load_state(algorithm.state())
    assert resumed.global_step == 15_000
    assert not resumed.should_stop()
    assert resumed.should_save() is False
    assert all(
        np.array_equal(resumed.best_weights[name], value)
        for name, value in algorithm.best_weights.items()
    )


def test_the_custom_algorithm_can_be_interrupted(target: Callable[..., Any]) -> None:
    algorithm = ALGORITHMS.cls("hill-climbing")(
        ALGORITHMS.variant("hill-climbing", "default"),
        POLICIES.cls("shared-trunk")(POLICIES.variant("shared-trunk", "default"), SIZES),
    )
    fresh = algorithm.state()
    world = target(500)
    algorithm.feedback(world.frames(algorithm.infer(_obs(target, 500))))
    progress = LearnProgress()
    progress.interrupt()
    with pytest.raises(Exception, match="stopped before"):
        algorithm.learn(progress)
    algorithm.load_state(fresh)
    assert algorithm.global_step == 0


def _obs(target: Callable[..., Any], n: int = 3) -> Any:
    return Observation({}, {"x": target(n).obs}, np.full(n, ""))
