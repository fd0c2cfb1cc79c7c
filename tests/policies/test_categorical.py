from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from plugrl.config.base import EnvSizes
from plugrl.config.categorical import CategoricalConfig
from plugrl.errors import UsageError
from plugrl.policies.categorical import (
    CategoricalPolicy,
    categorical_entropy,
    categorical_log_prob,
)
from plugrl.protocol.messages import Observation

MakeObs = Callable[..., Observation]
SIZES = EnvSizes(obs_dim=4, action_dim=0, num_choices=(2, 3))


def policy(seed: int = 0, **fields: Any) -> CategoricalPolicy:
    torch.manual_seed(0)
    return CategoricalPolicy(CategoricalConfig(**fields), SIZES, seed=seed)


def test_log_probabilities_add_up_over_components() -> None:
    logits = [torch.randn(5, 2), torch.randn(5, 3)]
    actions = torch.stack([torch.randint(2, (5,)), torch.randint(3, (5,))], -1)
    expected = sum(
        Categorical(logits=component).log_prob(actions[:, i]) for i, component in enumerate(logits)
    )
    logs = [component.log_softmax(-1) for component in logits]
    torch.testing.assert_close(categorical_log_prob(logs, actions), expected)


def test_entropies_add_up_over_components() -> None:
    logits = [torch.randn(5, 2), torch.randn(5, 3)]
    expected = sum(Categorical(logits=component).entropy() for component in logits)
    logs = [component.log_softmax(-1) for component in logits]
    torch.testing.assert_close(categorical_entropy(logs), expected)


def test_actions_are_whole_numbers_within_their_choices(make_obs: MakeObs) -> None:
    actions = policy(action_horizon=3).act(make_obs(50, 4)).actions
    assert actions.shape == (50, 3, 2)
    assert actions.dtype == np.int64
    assert set(np.unique(actions[..., 0])) == {0, 1}
    assert set(np.unique(actions[..., 1])) == {0, 1, 2}


def test_samples_follow_the_probabilities(make_obs: MakeObs) -> None:
    it = policy()
    with torch.no_grad():
        it.state_dict()["actor.layers.2.bias"].copy_(torch.tensor([0.0, 1.0, 2.0, 0.0, -1.0]))
    obs = make_obs(1, 4).rows(np.zeros(8000, int))
    actions = it.act(obs).actions[:, 0]
    inputs = it.prepare(torch.from_numpy(it.observe(obs.rows(slice(1)))))
    first, second = (
        logits.softmax(-1).detach().numpy()[0] for logits in it.actor(inputs).split([2, 3], -1)
    )
    np.testing.assert_allclose(np.bincount(actions[:, 0]) / 8000, first, atol=0.02)
    np.testing.assert_allclose(np.bincount(actions[:, 1]) / 8000, second, atol=0.02)


def test_evaluation_agrees_with_what_was_attached_at_inference(make_obs: MakeObs) -> None:
    it, obs = policy(), make_obs(64, 4)
    inference = it.act(obs)
    inputs = it.prepare(torch.from_numpy(it.observe(obs)))
    evaluation = it.evaluate(inputs, torch.from_numpy(inference.actions))
    np.testing.assert_allclose(
        evaluation.log_probs.detach(), inference.step_state["log_prob"], atol=1e-6
    )


def test_a_deterministic_action_is_the_mode_and_draws_nothing(make_obs: MakeObs) -> None:
    it = policy()
    before = it.rng.get_state()
    with torch.no_grad():
        it.state_dict()["actor.layers.2.bias"].copy_(torch.tensor([0.0, 9.0, 0.0, 0.0, 9.0]))
    actions = it.act(make_obs(5, 4), deterministic=True).actions
    assert actions.tolist() == [[[1, 2]]] * 5
    assert torch.equal(it.rng.get_state(), before)


def test_without_choices_it_says_how_to_give_them() -> None:
    with pytest.raises(UsageError, match=r"expected num_choices of the env"):
        CategoricalPolicy(CategoricalConfig(obs_dim=5), EnvSizes(obs_dim=5, action_dim=2))


@pytest.mark.parametrize("horizon", [1, 3])
def test_its_metadata_counts_components_and_their_choices(horizon: int) -> None:
    assert policy(action_horizon=horizon).metadata() == {
        "obs_dim": 4,
        "action_dim": 2,
        "action_horizon": horizon,
        "num_choices": [2, 3],
    }
