"""The dummy algorithm: counts frames and passes time, for tests and for measuring load."""

import time
from typing import Any

from plugrl.algorithms.algorithm import Algorithm, TrainState
from plugrl.config.dummy import DummyConfig
from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.policies.policy import Policy
from plugrl.protocol.messages import Observation

_NAP_S = 0.02
"""Longest sleep between two looks at whether the learn was interrupted."""


class Dummy(Algorithm[DummyConfig]):
    """Learns nothing, after as many frames and as slowly as it is told."""

    def __init__(self, config: DummyConfig, policy: Policy[Any], *, seed: int = 0) -> None:
        """Start with nothing collected."""
        super().__init__(config, policy, seed=seed)
        self._num_collected = 0

    def infer(self, obs: Observation) -> Inference:
        """The policy's actions, ``fake_inference_duration_sec`` later."""
        if self.config.fake_inference_duration_sec:
            time.sleep(self.config.fake_inference_duration_sec)
        return self.policy.act(obs)

    def feedback(self, frames: Frames) -> int:
        """Count frames until a learn is due or the run is finished."""
        room = min(
            self.config.fake_learn_freq - self._num_collected,
            self.config.global_steps - self.global_step,
        )
        num_stored = len(frames)
        if num_stored > room:
            num_stored = room
            frames = frames.rows(slice(num_stored))
        self._num_collected += num_stored
        self.global_step += num_stored
        self.record_episodes(frames.info, frames.next_terminated, frames.next_truncated)
        return num_stored

    def should_learn(self) -> bool:
        """Whether ``fake_learn_freq`` frames came since the last learn."""
        return self._num_collected >= self.config.fake_learn_freq

    def should_save(self) -> bool:
        """Every ``save_interval`` learns."""
        return self.num_learns % self.config.save_interval == 0

    def should_stop(self) -> bool:
        """Whether ``global_steps`` frames came."""
        return self.global_step >= self.config.global_steps

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Pass ``fake_learn_duration_sec``, in naps so short that a stop is soon heard.

        Raises:
            LearnInterruptedError: a stop is wanted.
        """
        duration_s = self.config.fake_learn_duration_sec
        num_naps = 1 + int(duration_s / _NAP_S)
        for nap in range(num_naps):
            progress.step(epoch=0, num_epochs=1, minibatch=nap, num_minibatches=num_naps)
            if duration_s:
                time.sleep(duration_s / num_naps)
        self._num_collected = 0
        self.num_learns += 1
        return self.episodes.metrics()

    def load_state(self, state: TrainState) -> None:
        """Become what ``state`` returned."""
        super().load_state(state)
        self._num_collected = 0
