"""Config of PPO (Schulman et al. 2017) with the details of Huang et al. (2022)."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from plugrl.config.base import AlgorithmConfig, require

Restore = Literal["all", "model", "except-critic"]


@dataclass(frozen=True, kw_only=True)
class PPOConfig(AlgorithmConfig):
    """Proximal policy optimisation with a clipped surrogate."""

    requires: ClassVar[frozenset[str]] = frozenset({"log_prob", "value"})

    global_steps: int = 1_000_000
    """Frames to learn from before the run is finished (rounded up to whole rollouts)."""
    rollout_steps: int = 2048
    """Frames collected between two learns, over all envs."""
    num_minibatches: int = 32
    """Minibatches of an epoch; sizes differ by one where they don't divide the rollout."""
    num_epochs: int = 10
    """Passes over the rollout in a learn."""
    learning_rate: float = 3e-4
    """Adam's step size at the start."""
    anneal_learning_rate: bool = True
    """Let the learning rate fall linearly to 0 over the run."""
    adam_eps: float = 1e-5
    """Adam's epsilon."""
    gamma: float = 0.995
    """Discount of a frame."""
    gae_lambda: float = 0.95
    """Decay of the advantage trace."""
    clip_ratio: float = 0.2
    """Half-width of the trust region of the probability ratio."""
    anneal_clip_ratio: bool = False
    """Let the clip ratio fall linearly to 0 over the run."""
    clip_value: float | None = 0.2
    """Half-width of the value's trust region around the old value; none: no value clipping."""
    value_coef: float = 0.5
    """Weight of the value loss."""
    entropy_coef: float = 0.0
    """Weight of the entropy bonus."""
    max_grad_norm: float = 0.5
    """Bound of the gradient's global norm."""
    normalize_advantages: bool = True
    """Standardise advantages in each minibatch."""
    normalize_rewards: bool = True
    """Divide rewards by the running deviation of the discounted return."""
    clip_reward: float = 10.0
    """Bound of a normalised reward."""
    target_kl: float | None = None
    """Leave the epochs early once the approximate KL exceeds 1.5 times this; none: never."""
    adaptive_kl: float | None = None
    """Hold the KL near this by scaling the learning rate (rsl_rl's rule); none: off."""
    save_interval: int = 50
    """Learns between two checkpoints."""
    policy_checkpoint_path: Path | None = None
    """Step folder to warm-start from."""
    restore: Restore = "all"
    """What a warm start takes: all, only the model, or the model but its critic."""

    def __post_init__(self) -> None:
        for name in ("global_steps", "rollout_steps", "num_minibatches", "num_epochs"):
            require(self, getattr(self, name) >= 1, name, "at least 1")
        require(self, self.save_interval >= 1, "save_interval", "at least 1")
        require(
            self,
            self.rollout_steps >= 2 * self.num_minibatches,
            "num_minibatches",
            f"at most half of rollout_steps ({self.rollout_steps})",
        )
        for name in ("learning_rate", "adam_eps", "clip_ratio", "max_grad_norm", "clip_reward"):
            require(self, 0 < getattr(self, name) < float("inf"), name, "a finite number above 0")
        for name in ("gamma", "gae_lambda"):
            require(self, 0 <= getattr(self, name) <= 1, name, "between 0 and 1")
        for name in ("value_coef", "entropy_coef"):
            require(self, 0 <= getattr(self, name) < float("inf"), name, "finite, at least 0")
        for name in ("clip_value", "target_kl", "adaptive_kl"):
            value = getattr(self, name)
            require(self, value is None or 0 < value < float("inf"), name, "above 0, or none")
        require(
            self,
            self.restore == "all" or self.policy_checkpoint_path is not None,
            "restore",
            "a policy_checkpoint_path beside a restore other than 'all'",
        )


_DEFAULT = PPOConfig()

VARIANTS = {
    "default": _DEFAULT,
    "cartpole": replace(_DEFAULT, global_steps=200_000, rollout_steps=1024, num_minibatches=8),
    "debug": replace(
        _DEFAULT,
        global_steps=512,
        rollout_steps=128,
        num_minibatches=4,
        num_epochs=2,
        save_interval=1,
    ),
}
