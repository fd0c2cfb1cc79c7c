from typing import Any

import numpy as np
import pytest
import torch

from plugrl.algorithms.base import load_arrays, to_arrays
from plugrl.algorithms.dummy import Dummy
from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.errors import CheckpointMismatchError
from plugrl.policies.gaussian import GaussianPolicy


def policy(seed: int = 0, **fields: Any) -> GaussianPolicy:
    torch.manual_seed(seed)
    return GaussianPolicy(GaussianConfig(**fields), EnvSizes(obs_dim=3, action_dim=2), seed=seed)


def test_arrays_are_copies_and_come_back() -> None:
    source, sink = policy(0), policy(1)
    arrays = to_arrays(source.state_dict())
    with torch.no_grad():
        source.log_std.add_(1)
    load_arrays(sink, arrays)
    assert sink.log_std.tolist() == [0, 0]
    np.testing.assert_array_equal(to_arrays(sink.state_dict())["log_std"], arrays["log_std"])


def test_another_width_is_refused_by_name() -> None:
    arrays = to_arrays(policy(hidden_sizes=(8,)).state_dict())
    with pytest.raises(CheckpointMismatchError, match=r"expected shape \(16.*at model\.actor"):
        load_arrays(policy(hidden_sizes=(16,)), arrays)


def test_missing_and_foreign_weights_are_refused_by_name() -> None:
    arrays = to_arrays(policy().state_dict())
    arrays["stranger"] = arrays.pop("log_std")
    with pytest.raises(CheckpointMismatchError, match=r"\['log_std'\] and no \['stranger'\]"):
        load_arrays(policy(), arrays)


def test_a_refused_model_changes_nothing() -> None:
    sink = policy()
    before = to_arrays(sink.state_dict())
    arrays = {name: value + 1 for name, value in before.items()}
    arrays["log_std"] = np.zeros(5)
    with pytest.raises(CheckpointMismatchError):
        load_arrays(sink, arrays)
    after = to_arrays(sink.state_dict())
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_state_holds_the_generators() -> None:
    first, second = (Dummy(DummyConfig(), policy(s), seed=s) for s in (0, 1))
    torch.rand(3, generator=first.policy.rng)
    torch.rand(3, generator=first.rng)
    second.load_state(first.state())
    for a, b in ((first.policy.rng, second.policy.rng), (first.rng, second.rng)):
        assert torch.equal(torch.rand(3, generator=a), torch.rand(3, generator=b))


def test_it_tells_what_its_policy_tells() -> None:
    algorithm = Dummy(DummyConfig(), policy())
    assert algorithm.metadata() == algorithm.policy.metadata() != {}
