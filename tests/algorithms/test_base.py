import pytest
import torch

from plugrl.algorithms.base import BaseAlgorithm
from plugrl.algorithms.dummy import Dummy
from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.errors import IncompatibleError
from plugrl.policies.dummy import DummyPolicy
from plugrl.policies.gaussian import GaussianPolicy


def policy(seed: int) -> GaussianPolicy:
    return GaussianPolicy(GaussianConfig(), EnvSizes(obs_dim=3, action_dim=2), seed=seed)


def test_the_state_holds_the_generators() -> None:
    first, second = (PPO(PPOConfig(), policy(s), seed=s) for s in (0, 1))
    torch.rand(3, generator=first.rng)
    second.load_state(first.state())
    for a, b in ((first.policy.rng, second.policy.rng), (first.rng, second.rng)):
        assert torch.equal(torch.rand(3, generator=a), torch.rand(3, generator=b))


def test_what_learns_takes_no_policy_without_networks() -> None:
    class Learner(BaseAlgorithm[DummyConfig], Dummy):
        """Does nothing."""

    with pytest.raises(IncompatibleError, match="networks, got DummyPolicy, at Learner"):
        Learner(DummyConfig(), DummyPolicy(DummyPolicyConfig()))  # type: ignore[arg-type]
