from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.errors import InvalidMessageError, UsageError
from plugrl.policies.gaussian import GaussianPolicy, normal_entropy, normal_log_prob
from plugrl.protocol.messages import Observation

MakeObs = Callable[..., Observation]
SIZES = EnvSizes(obs_dim=5, action_dim=3)


def policy(seed: int = 0, **fields: Any) -> GaussianPolicy:
    torch.manual_seed(0)
    return GaussianPolicy(GaussianConfig(**fields), SIZES, seed=seed)


@pytest.fixture
def density() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.randn(6, 3), torch.randn(6, 3), torch.tensor([0.3, -1.0, 0.0])


def test_the_log_probability_is_that_of_independent_normals(
    density: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    x, mean, log_std = density
    expected = Normal(mean, log_std.exp(), validate_args=True).log_prob(x).sum(-1)
    torch.testing.assert_close(normal_log_prob(x, mean, log_std), expected)


def test_the_entropy_is_that_of_independent_normals() -> None:
    log_std = torch.tensor([0.3, -1.0, 0.0])
    expected = Normal(torch.zeros(3), log_std.exp()).entropy().sum()
    torch.testing.assert_close(normal_entropy(log_std), expected)


def test_actions_and_step_state_have_a_row_per_env(make_obs: MakeObs) -> None:
    inference = policy(action_horizon=4).act(make_obs(7, 5))
    assert inference.actions.shape == (7, 4, 3)
    assert inference.actions.dtype == np.float32
    assert {name: a.shape for name, a in inference.step_state.items()} == {
        "log_prob": (7,),
        "value": (7,),
    }


@pytest.mark.parametrize("horizon", [1, 4])
def test_evaluation_agrees_with_what_was_attached_at_inference(
    make_obs: MakeObs, horizon: int
) -> None:
    it = policy(action_horizon=horizon)
    obs = make_obs(64, 5)
    inference = it.act(obs)
    inputs = it.prepare(torch.from_numpy(it.observe(obs)))
    evaluation = it.evaluate(inputs, torch.from_numpy(inference.actions))
    np.testing.assert_allclose(
        evaluation.log_probs.detach(), inference.step_state["log_prob"], atol=2e-6
    )
    np.testing.assert_allclose(evaluation.values.detach(), inference.step_state["value"], atol=1e-6)


def test_a_deterministic_action_is_the_mean_and_draws_nothing(make_obs: MakeObs) -> None:
    it, obs = policy(), make_obs(4, 5)
    before = it.rng.get_state()
    first = it.act(obs, deterministic=True).actions
    assert torch.equal(it.rng.get_state(), before)
    mean = it.actor(it.prepare(torch.from_numpy(it.observe(obs)))).detach().numpy()
    np.testing.assert_array_equal(first[:, 0], mean)


def test_samples_spread_by_the_standard_deviation(make_obs: MakeObs) -> None:
    it = policy(log_std_init=-1.0)
    obs = make_obs(1, 5).rows(np.zeros(4000, int))
    actions = it.act(obs).actions
    np.testing.assert_allclose(actions.std(axis=0), np.exp(-1.0), rtol=0.05)


def test_the_same_seed_draws_the_same_actions(make_obs: MakeObs) -> None:
    obs = make_obs(3, 5)
    first, same, other = (policy(seed=s).act(obs).actions for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_actions_beyond_the_bounds_of_an_env_stay_as_they_are(make_obs: MakeObs) -> None:
    assert abs(policy(log_std_init=3.0).act(make_obs(50, 5)).actions).max() > 10


def test_moments_stand_still_until_a_rollout_is_absorbed(make_obs: MakeObs) -> None:
    it, obs = policy(), make_obs(100, 5)
    it.act(obs)
    assert it.normalizer is not None
    assert it.normalizer.count == 0
    it.absorb(torch.from_numpy(it.observe(obs)))
    assert it.normalizer.count == 100


def test_normalisation_can_be_left_out(make_obs: MakeObs) -> None:
    it = policy(normalize_obs=False)
    stored = torch.from_numpy(it.observe(make_obs(4, 5)))
    it.absorb(stored)
    assert torch.equal(it.prepare(stored), stored)
    assert not any(name.startswith("normalizer") for name in it.state_dict())


def test_sizes_of_the_config_come_before_those_of_the_env() -> None:
    it = policy(obs_dim=2, action_dim=1)
    assert it.obs_dim == 2
    sizes = {"obs_dim": 2, "action_dim": 1, "action_horizon": 1, "num_choices": []}
    assert it.metadata() == sizes


def test_without_a_size_it_says_how_to_give_one() -> None:
    with pytest.raises(UsageError, match=r"--env NAME or --policy\.action-dim"):
        GaussianPolicy(GaussianConfig(obs_dim=5))
    with pytest.raises(UsageError, match=r"--env NAME or --policy\.obs-dim"):
        GaussianPolicy(GaussianConfig(action_dim=5))


def test_an_observation_of_another_width_is_refused(make_obs: MakeObs) -> None:
    with pytest.raises(InvalidMessageError, match="expected states 5 wide"):
        policy().check_observation(make_obs(2, 4))


def test_actor_and_critic_share_no_parameter() -> None:
    it = policy()
    names = {name for name, _ in it.named_parameters()}
    assert {name.split(".")[0] for name in names} == {"actor", "critic", "log_std"}


def test_its_metrics_tell_the_spread_of_its_actions() -> None:
    assert policy(log_std_init=0.0).metrics() == {"policy/action_std": 1.0}
