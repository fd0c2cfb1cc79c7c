from typing import Any

import numpy as np
import pytest
import torch

from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.errors import CheckpointMismatchError
from plugrl.policies.gaussian import GaussianPolicy


def policy(seed: int = 0, **fields: Any) -> GaussianPolicy:
    torch.manual_seed(seed)
    return GaussianPolicy(GaussianConfig(**fields), EnvSizes(obs_dim=3, action_dim=2), seed=seed)


def test_arrays_are_copies_and_come_back() -> None:
    source, sink = policy(0), policy(1)
    arrays = source.weights()
    with torch.no_grad():
        source.log_std.add_(1)
    sink.load_weights(arrays)
    assert sink.log_std.tolist() == [0, 0]
    np.testing.assert_array_equal(sink.weights()["log_std"], arrays["log_std"])


def test_another_width_is_refused_by_name() -> None:
    arrays = policy(hidden_sizes=(8,)).weights()
    with pytest.raises(CheckpointMismatchError, match=r"expected shape \(16.*at model\.actor"):
        policy(hidden_sizes=(16,)).load_weights(arrays)


def test_missing_and_foreign_weights_are_refused_by_name() -> None:
    arrays = policy().weights()
    arrays["stranger"] = arrays.pop("log_std")
    with pytest.raises(CheckpointMismatchError, match=r"\['log_std'\] and no \['stranger'\]"):
        policy().load_weights(arrays)


def test_a_refused_model_changes_nothing() -> None:
    sink = policy()
    before = sink.weights()
    arrays = {name: value + 1 for name, value in before.items()}
    arrays["log_std"] = np.zeros(5)
    with pytest.raises(CheckpointMismatchError):
        sink.load_weights(arrays)
    after = sink.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)
