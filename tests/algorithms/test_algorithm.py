import numpy as np
import pytest

from plugrl.algorithms.dummy import Dummy
from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.errors import CheckpointMismatchError
from plugrl.policies.dummy import DummyPolicy
from plugrl.policies.gaussian import GaussianPolicy


def policy(seed: int = 0) -> GaussianPolicy:
    return GaussianPolicy(GaussianConfig(), EnvSizes(obs_dim=3, action_dim=2), seed=seed)


def test_one_that_learns_nothing_keeps_the_generator_of_its_policy() -> None:
    first, second = (Dummy(DummyConfig(), policy(s)) for s in (0, 1))
    second.load_state(first.state())
    assert second.state().optimizer.keys() == {"rng.policy"}
    np.testing.assert_array_equal(
        first.state().optimizer["rng.policy"], second.state().optimizer["rng.policy"]
    )


def test_without_torch_there_is_no_generator_and_those_of_others_are_passed_over() -> None:
    dummy = Dummy(DummyConfig(), DummyPolicy(DummyPolicyConfig()))
    assert dummy.state().optimizer == dummy.state().model == {}
    generators = {"rng.policy": np.zeros(8, np.uint8), "rng.algorithm": np.zeros(8, np.uint8)}
    state = dummy.state()
    dummy.load_state(type(state)(state.model, generators, state.counters))
    assert dummy.state().optimizer == {}


def test_a_model_of_another_policy_is_refused() -> None:
    with pytest.raises(CheckpointMismatchError, match="for a DummyPolicy"):
        Dummy(DummyConfig(), DummyPolicy(DummyPolicyConfig())).load_model(policy().weights())


def test_it_tells_what_its_policy_tells() -> None:
    algorithm = Dummy(DummyConfig(), policy())
    assert algorithm.metadata() == algorithm.policy.metadata() != {}
