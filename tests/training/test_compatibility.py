import pytest

from plugrl.config.base import EnvSizes
from plugrl.config.categorical import CategoricalConfig
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.errors import CheckpointMismatchError, IncompatibleError
from plugrl.training.compatibility import (
    require_compatible,
    require_kind_of_actions,
    require_same_sizes,
    require_sizes_of_env,
)
from plugrl.training.spec import RunSpec

CONTINUOUS = EnvSizes(obs_dim=17, action_dim=6)
DISCRETE = EnvSizes(obs_dim=4, action_dim=0, num_choices=(2, 3))


def spec(policy, algorithm=None, sizes=None) -> RunSpec:
    return RunSpec(
        policy="p",
        policy_config=policy,
        algorithm="a",
        algorithm_config=algorithm or PPOConfig(),
        env="walker2d",
        sizes=sizes,
    )


def test_an_algorithm_names_the_policies_that_have_what_it_needs():
    require_compatible(spec(DummyPolicyConfig(), DummyConfig()))
    with pytest.raises(IncompatibleError, match=r"log_prob, value.*categorical-policy, gaussian"):
        require_compatible(spec(DummyPolicyConfig()))


def test_a_policy_of_the_other_kind_of_actions_names_the_one_that_would_do():
    with pytest.raises(IncompatibleError, match=r"^walker2d has discrete.*one of categorical-pol"):
        require_kind_of_actions(spec(GaussianConfig(), sizes=DISCRETE))
    with pytest.raises(IncompatibleError, match=r"^walker2d has continuous.*one of gaussian-pol"):
        require_kind_of_actions(spec(CategoricalConfig(), sizes=CONTINUOUS))


@pytest.mark.parametrize(
    ("policy", "sizes"),
    [
        (GaussianConfig(), CONTINUOUS),
        (GaussianConfig(), None),
        (CategoricalConfig(), DISCRETE),
        (CategoricalConfig(num_choices=(7,)), CONTINUOUS),
        (DummyPolicyConfig(), DISCRETE),
    ],
)
def test_a_policy_of_the_right_kind_or_with_sizes_of_its_own_passes(policy, sizes):
    require_kind_of_actions(spec(policy, sizes=sizes))


def test_a_size_that_is_not_the_envs_is_refused_by_its_flag():
    require_sizes_of_env(spec(GaussianConfig(action_dim=6), sizes=CONTINUOUS))
    require_sizes_of_env(spec(GaussianConfig(action_dim=99)))
    with pytest.raises(
        IncompatibleError, match=r"policy\.action-dim as walker2d has it, 6, got 99"
    ):
        require_sizes_of_env(spec(GaussianConfig(action_dim=99), sizes=CONTINUOUS))
    with pytest.raises(IncompatibleError, match=r"policy\.num-choices .*\(2, 3\), got \(7,\)"):
        require_sizes_of_env(spec(CategoricalConfig(num_choices=(7,)), sizes=DISCRETE))


def test_a_checkpoint_of_another_env_is_told_by_its_sizes():
    other = EnvSizes(obs_dim=11, action_dim=3)
    with pytest.raises(
        CheckpointMismatchError,
        match="trained with 11 observations and 3 actions, walker2d has 17 observations and 6",
    ):
        require_same_sizes(spec(GaussianConfig(), sizes=CONTINUOUS), other)
    with pytest.raises(CheckpointMismatchError, match="walker2d has 4 observations and 2 x 3 choi"):
        require_same_sizes(spec(CategoricalConfig(), sizes=DISCRETE), other)


def test_sizes_that_are_the_same_unknown_or_of_no_matter_pass():
    require_same_sizes(spec(GaussianConfig(), sizes=CONTINUOUS), CONTINUOUS)
    require_same_sizes(spec(GaussianConfig(), sizes=CONTINUOUS), None)
    require_same_sizes(spec(GaussianConfig()), CONTINUOUS)
    require_same_sizes(spec(DummyPolicyConfig(), sizes=CONTINUOUS), DISCRETE)
