"""Slow: trains until a return that the literature reports."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.categorical import CategoricalConfig
from plugrl.config.ppo import VARIANTS
from plugrl.policies.categorical import CategoricalPolicy


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ppo_solves_cartpole_within_200k_frames(
    drive: Any, gymnasium_world: Callable[..., Any], seed: int
) -> None:
    config = VARIANTS["cartpole"]
    torch.manual_seed(seed)
    sizes = EnvSizes(obs_dim=4, action_dim=0, num_choices=(2,))
    algorithm = PPO(config, CategoricalPolicy(CategoricalConfig(), sizes, seed=seed), seed=seed)
    world = gymnasium_world("CartPole-v1", 8, seed)
    metrics = drive(algorithm, world, 196)[-1]
    assert algorithm.should_stop()
    assert metrics["rollout/episode_return_mean"] >= 475
