"""Proximal policy optimisation (Schulman et al. 2017).

The comments ``core N`` and ``continuous N`` are the numbered details of docs/ppo.md.

Legend: m rows of a rollout, B of a minibatch.
"""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from plugrl.algorithms import losses
from plugrl.algorithms.algorithm import TrainState
from plugrl.algorithms.base import BaseAlgorithm
from plugrl.algorithms.batch import Batch, Step, diagnostics
from plugrl.algorithms.kl_control import KLControl
from plugrl.config.ppo import PPOConfig
from plugrl.data.advantages import continuations, gae
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.data.reward_scale import RewardScaler
from plugrl.data.rollout import Rollout, Rows
from plugrl.errors import IncompatibleError, LearnDivergedError
from plugrl.networks.adam import FlatAdam
from plugrl.networks.flat import clipped_gradient, flatten_parameters
from plugrl.policies.actor_critic import ActorCritic
from plugrl.policies.base import BasePolicy


class PPO(BaseAlgorithm[PPOConfig]):
    """Collects a rollout, takes some epochs of clipped steps on it, and forgets it."""

    policy: ActorCritic[Any]

    def __init__(self, config: PPOConfig, policy: BasePolicy[Any], *, seed: int = 0) -> None:
        """Lay the policy's parameters end to end and make an optimizer for them.

        Raises:
            IncompatibleError: the policy is no ``ActorCritic``.
        """
        if not isinstance(policy, ActorCritic):
            raise IncompatibleError(
                f"expected an ActorCritic policy, got {type(policy).__name__}, at ppo"
            )
        super().__init__(config, policy, seed=seed)
        self._parameters = flatten_parameters(policy)
        # core 3: Adam with an epsilon of 1e-5
        self._adam = FlatAdam(self._parameters, eps=config.adam_eps)
        self._rollout = Rollout(config.rollout_steps)
        self._rewards = RewardScaler(gamma=config.gamma, clip=config.clip_reward)
        self._kl = KLControl(target=config.target_kl, adaptive=config.adaptive_kl)
        self._begin_rollout()

    @property
    def num_learned(self) -> int:
        """Frames learned from."""
        return self.global_step - len(self._rollout)

    def feedback(self, frames: Frames) -> int:
        """Store frames until the rollout is full (core 1: fixed length, over all streams)."""
        num_stored = min(len(frames), self._rollout.room)
        if num_stored < len(frames):
            frames = frames.rows(slice(num_stored))
        self._rollout.add(
            Rows(
                obs=self.policy.observe(frames.obs),
                actions=frames.actions,
                log_probs=frames.step_state["log_prob"],
                values=frames.step_state["value"],
                rewards=frames.rewards,
                terminated=frames.next_terminated,
                truncated=frames.next_truncated,
                next_obs=self.policy.observe(frames.next_obs),
                streams=frames.streams,
                sequence=frames.sequence,
            )
        )
        self.global_step += num_stored
        self.record_episodes(frames.info, frames.next_terminated, frames.next_truncated)
        return num_stored

    def should_learn(self) -> bool:
        """Whether the rollout is full."""
        return self._rollout.room == 0

    def should_save(self) -> bool:
        """Every ``save_interval`` learns."""
        return self.num_learns % self.config.save_interval == 0

    def should_stop(self) -> bool:
        """Whether ``global_steps`` frames were learned from."""
        return self.num_learned >= self.config.global_steps

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Learn from the rollout.

        Raises:
            LearnInterruptedError: a stop is wanted; the caller must ``load_state`` what was before.
            LearnDivergedError: the numbers left the finite; nothing is left to save.
        """
        rows = self._rollout.by_stream()
        batch = self._batch(rows)
        clip_ratio = self.config.clip_ratio
        if self.config.anneal_clip_ratio:
            clip_ratio *= self._remaining()
        steps = self._optimize(batch, clip_ratio, progress)
        metrics = diagnostics(batch, steps, clip_ratio)  # core 12
        metrics["train/learning_rate"] = self._learning_rate()
        metrics["train/clip_ratio"] = clip_ratio
        if not math.isfinite(metrics["train/grad_norm"]):
            raise LearnDivergedError(
                "expected finite gradients, got NaN or infinity: try a lower --algo.learning-rate"
            )
        # continuous 6: the moments stood still since the rollout's first action
        self.policy.absorb(torch.from_numpy(rows.obs))
        self._begin_rollout()
        self.num_learns += 1
        return metrics | self.policy.metrics() | self.episodes.metrics()

    def state(self) -> TrainState:
        """A copy of all that the run must remember, as it was before the rollout's first action."""
        base = super().state()
        return TrainState(
            model=base.model,
            optimizer={
                **base.optimizer,
                "rng.policy": self._rng_before_rollout.numpy().copy(),
                **self._adam.state(),
            },
            counters={
                **base.counters,
                "global_step": self.num_learned,
                "episodes": self._episodes_before_rollout,
                "rewards": self._rewards.state(),
                "kl_rate_factor": self._kl.rate_factor,
            },
        )

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned, with an empty rollout.

        Raises:
            CheckpointMismatchError: the model is of another architecture.
        """
        super().load_state(state)
        self._adam.load_state(state.optimizer)
        self._rewards.load_state(state.counters["rewards"])
        self._kl.rate_factor = state.counters["kl_rate_factor"]
        self._begin_rollout()

    def _begin_rollout(self) -> None:
        # What a rollout that is dropped has drawn and counted, its repetition draws and counts.
        self._rng_before_rollout = self.policy.rng.get_state()
        self._episodes_before_rollout = self.episodes.state()
        self._rollout.clear()

    def _batch(self, rows: Rows) -> Batch:
        """What the epochs need of a rollout: prepared inputs, advantages, return targets."""
        device = self._parameters.device
        with torch.no_grad():
            inputs = self.policy.prepare(torch.from_numpy(rows.obs).to(device))
            next_inputs = self.policy.prepare(torch.from_numpy(rows.next_obs).to(device))
            next_values = self.policy.value(next_inputs).cpu().numpy()
        done = rows.terminated | rows.truncated
        # core 5: advantages by GAE, targets from them
        advantages = gae(
            self._scaled_rewards(rows),
            rows.values.astype(np.float64),
            next_values.astype(np.float64),
            terminated=rows.terminated,
            continues=continuations(rows.streams, rows.sequence, done),
            gamma=self.config.gamma,
            gae_lambda=self.config.gae_lambda,
        )
        return Batch.of(rows, inputs, advantages)

    def _scaled_rewards(self, rows: Rows) -> NDArray[np.float64]:
        if not self.config.normalize_rewards:
            return rows.rewards
        # continuous 8, continuous 9: over the deviation of the discounted return, then clipped
        done = rows.terminated | rows.truncated
        self._rewards.update(rows.streams, rows.sequence, rows.rewards, done)
        return self._rewards.scale(rows.rewards)

    def _optimize(self, batch: Batch, clip_ratio: float, progress: LearnProgress) -> list[Step]:
        config = self.config
        steps: list[Step] = []
        for epoch in range(config.num_epochs):
            # core 6: a fresh permutation each epoch, every row once
            order = torch.randperm(len(batch.returns), generator=self.rng).to(batch.returns.device)
            minibatches = batch.permuted(order).split(config.num_minibatches)
            for i, minibatch in enumerate(minibatches):
                progress.step(
                    epoch=epoch,
                    num_epochs=config.num_epochs,
                    minibatch=i,
                    num_minibatches=config.num_minibatches,
                )
                step = self._descend(minibatch, clip_ratio, first=not steps)
                if step is None:
                    return steps
                steps.append(step)
        return steps

    def _descend(self, batch: Batch, clip_ratio: float, *, first: bool) -> Step | None:
        """One gradient step; None, and no step, where the KL calls for an early stop."""
        config = self.config
        now = self.policy.evaluate(batch.inputs, batch.actions)
        log_ratio = now.log_probs - batch.old_log_probs
        if self._kl.active and not first:  # the first KL is 0, but for rounding
            kl = losses.approximate_kl(log_ratio.detach()).item()
            if self._kl.too_far(kl):
                return None
            self._kl.adapt(kl)
        advantages = batch.advantages
        if config.normalize_advantages:
            advantages = losses.standardize(advantages)  # core 7
        policy_loss = losses.clipped_surrogate(log_ratio.exp(), advantages, clip_ratio)  # core 8
        if config.clip_value is None:
            value_loss = losses.value_loss(now.values, batch.returns)
        else:  # core 9
            value_loss = losses.clipped_value_loss(
                now.values, batch.old_values, batch.returns, config.clip_value
            )
        loss = policy_loss + config.value_coef * value_loss  # core 10
        entropy = now.entropy.mean()
        if config.entropy_coef:
            loss = loss - config.entropy_coef * entropy
        norm = clipped_gradient(loss, self._parameters, max_norm=config.max_grad_norm)  # core 11
        self._adam.step(self._learning_rate())
        return Step(
            policy_loss.detach(),
            value_loss.detach(),
            entropy.detach(),
            norm,
            log_ratio.detach(),
        )

    def _learning_rate(self) -> float:
        """What Adam uses now (core 4: it falls linearly to 0 over the run)."""
        rate = self.config.learning_rate * self._kl.rate_factor
        return rate * self._remaining() if self.config.anneal_learning_rate else rate

    def _remaining(self) -> float:
        """The part of the run before this rollout's learn that was left: 1 at first, then less."""
        return max(0.0, 1 - self.num_learned / self.config.global_steps)
