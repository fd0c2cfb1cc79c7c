import numpy as np
import pytest

from plugrl.config.dummy import DummyPolicyConfig
from plugrl.policies.dummy import DummyPolicy
from plugrl.protocol.messages import Observation


@pytest.mark.parametrize("n", [0, 1, 5])
def test_it_answers_any_observation_with_zeros(n: int) -> None:
    policy = DummyPolicy(DummyPolicyConfig(action_dim=3, action_horizon=2))
    obs = Observation({"camera": np.zeros((n, 4, 4, 3), np.uint8)}, {}, np.full(n, "go"))
    actions = policy.act(obs).actions
    assert actions.shape == (n, 2, 3)
    assert actions.dtype == np.float32
    assert not actions.any()


def test_its_metadata_is_the_shape_of_its_actions() -> None:
    policy = DummyPolicy(DummyPolicyConfig(action_dim=3, action_horizon=2))
    assert policy.metadata() == {"action_dim": 3, "action_horizon": 2}
