"""An algorithm of your own: hill climbing on the policy's weights.

    plugrl-run-server gaussian-policy default hill-climbing default \
        --import examples.custom_algorithm --env inverted-pendulum

It perturbs all weights, watches the reward of the next frames, and keeps what pays more.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from plugrl.algorithms.algorithm import TrainState
from plugrl.algorithms.base import BaseAlgorithm
from plugrl.config.base import AlgorithmConfig, require
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.policies.base import BasePolicy
from plugrl.registry import register_algo, register_algo_config


@register_algo_config("hill-climbing")
@dataclass(frozen=True, kw_only=True)
class HillClimbingConfig(AlgorithmConfig):
    """Config of hill climbing; its fields become ``--algo.*``."""

    global_steps: int = 100_000
    """Frames after which the run is finished."""
    frames_per_try: int = 500
    """Frames by which a set of weights is judged."""
    noise_std: float = 0.05
    """Standard deviation of the change of a weight."""

    def __post_init__(self) -> None:
        require(self, self.frames_per_try >= 1, "frames_per_try", "at least 1")
        require(self, self.noise_std > 0, "noise_std", "more than 0")


@register_algo("hill-climbing")
class HillClimbing(BaseAlgorithm[HillClimbingConfig]):
    """Keeps the best weights so far, and tries others near them."""

    def __init__(
        self, config: HillClimbingConfig, policy: BasePolicy[Any], *, seed: int = 0
    ) -> None:
        """Start from the fresh weights, which are tried first."""
        super().__init__(config, policy, seed=seed)
        self.best_reward = -np.inf
        self.best_weights = policy.weights()
        self._rewards: list[NDArray[np.float64]] = []
        self._num_collected = 0

    def feedback(self, frames: Frames) -> int:
        """Take frames until the try is over; of each, only the reward counts."""
        num_stored = min(len(frames), self.config.frames_per_try - self._num_collected)
        frames = frames.rows(slice(num_stored))
        self._rewards.append(frames.rewards)
        self._num_collected += num_stored
        self.global_step += num_stored
        self.record_episodes(frames.info, frames.next_terminated, frames.next_truncated)
        return num_stored

    def should_learn(self) -> bool:
        """Whether the try is over."""
        return self._num_collected >= self.config.frames_per_try

    def should_save(self) -> bool:
        """Every 20 tries."""
        return self.num_learns % 20 == 0

    def should_stop(self) -> bool:
        """Whether all frames were used and judged."""
        return self.global_step - self._num_collected >= self.config.global_steps

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Judge the weights just tried, then perturb the best ones."""
        progress.step(epoch=0, num_epochs=1, minibatch=0, num_minibatches=1)
        reward = float(np.concatenate(self._rewards).mean())
        if reward > self.best_reward:
            self.best_reward = reward
            self.best_weights = self.policy.weights()
        self.policy.load_weights(self.best_weights)
        self._perturb()
        self._forget()
        self.num_learns += 1
        return {"train/reward": reward, "train/best_reward": self.best_reward} | (
            self.episodes.metrics()
        )

    def state(self) -> TrainState:
        """A copy of all that the run must remember."""
        base = super().state()
        best = {f"best.{name}": value.copy() for name, value in self.best_weights.items()}
        counters = {
            "global_step": self.global_step - self._num_collected,
            "best_reward": self.best_reward if np.isfinite(self.best_reward) else None,
        }
        return TrainState(base.model, {**base.optimizer, **best}, {**base.counters, **counters})

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned."""
        super().load_state(state)
        best = state.counters["best_reward"]
        self.best_reward = -np.inf if best is None else best
        self.best_weights = {
            name.removeprefix("best."): np.array(value)
            for name, value in state.optimizer.items()
            if name.startswith("best.")
        }
        self._forget()

    @torch.no_grad()
    def _perturb(self) -> None:
        for weights in self.policy.parameters():
            noise = torch.randn(weights.shape, generator=self.rng).to(weights.device)
            weights.add_(noise, alpha=self.config.noise_std)

    def _forget(self) -> None:
        self._rewards.clear()
        self._num_collected = 0
