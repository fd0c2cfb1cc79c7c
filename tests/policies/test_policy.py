import numpy as np
import pytest

from plugrl.config.dummy import DummyPolicyConfig
from plugrl.errors import CheckpointMismatchError
from plugrl.policies.dummy import DummyPolicy


def test_a_policy_without_weights_takes_none() -> None:
    dummy = DummyPolicy(DummyPolicyConfig())
    dummy.load_weights(dummy.weights())
    with pytest.raises(CheckpointMismatchError, match=r"expected no weights, got \['log_std'\]"):
        dummy.load_weights({"log_std": np.zeros(2)})
