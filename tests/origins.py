"""What checkpoints of tests say they were made from."""

from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.training.checkpoint import Origin, plain_config


def of_ppo(
    policy: GaussianConfig, algorithm: PPOConfig, sizes: EnvSizes, *, variant: str = "default"
) -> Origin:
    """A run of PPO with a Gaussian policy."""
    return Origin(
        policy="gaussian-policy",
        policy_variant="default",
        policy_config=plain_config(policy),
        algorithm="ppo",
        algorithm_variant=variant,
        algorithm_config=plain_config(algorithm),
        sizes=sizes,
    )
