import numpy as np
import pytest
import torch

from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.errors import InvalidMessageError
from plugrl.policies.base import check_width, flatten_states
from plugrl.policies.gaussian import GaussianPolicy
from plugrl.protocol.messages import Observation


def obs(**states: list[list[float]]) -> Observation:
    return Observation({}, {k: np.array(v) for k, v in states.items()}, np.full(1, ""))


def test_states_are_concatenated_in_the_order_of_their_names() -> None:
    flat = flatten_states(obs(b=[[3.0]], a=[[1.0, 2.0]]))
    assert flat.tolist() == [[1, 2, 3]]
    assert flat.dtype == np.float32


def test_a_single_read_only_state_becomes_an_array_of_our_own() -> None:
    state = np.frombuffer(np.ones(2, np.float32).tobytes(), np.float32).reshape(1, 2)
    flat = flatten_states(Observation({}, {"x": state}, np.full(1, "")))
    assert flat.flags.writeable


def test_a_wrong_width_is_refused_with_what_came() -> None:
    with pytest.raises(InvalidMessageError, match=r"expected states 4 wide in all, got 3 in"):
        check_width(obs(b=[[3.0]], a=[[1.0, 2.0]]), 4)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1e39])
def test_numbers_that_are_not_finite_are_refused_by_name(bad: float) -> None:
    with pytest.raises(InvalidMessageError, match=r"finite.*at \$\.data\.states\.b"):
        check_width(obs(b=[[bad]], a=[[1.0, 2.0]]), 3)


def test_the_right_width_passes() -> None:
    check_width(obs(b=[[3.0]], a=[[1.0, 2.0]]), 3)


def test_what_a_policy_draws_goes_on_from_the_state_of_its_generator() -> None:
    sizes = EnvSizes(obs_dim=3, action_dim=2)
    first, second = (GaussianPolicy(GaussianConfig(), sizes, seed=seed) for seed in (0, 1))
    torch.rand(3, generator=first.rng)
    second.load_random_state(first.random_state())
    assert torch.equal(torch.rand(3, generator=first.rng), torch.rand(3, generator=second.rng))
