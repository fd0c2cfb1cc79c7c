"""An env that costs nothing: for tests, and for measuring everything around it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plugrl.config.dummy import DummyEnvConfig
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.protocol.messages import Array, Observation


class DummyEnv(VectorEnv):
    """Each step pays 1, whatever the action; an episode terminates at the configured length.

    ``states.state`` repeats the steps done in the episode; images are black.
    """

    def __init__(self, config: DummyEnvConfig, num_envs: int) -> None:
        """Allocate the parts of an observation that never change."""
        self.num_envs = num_envs
        self._config = config
        self._steps = np.zeros(num_envs, np.int64)
        shape = (num_envs, config.image_height, config.image_width, 3)
        self._black = np.zeros(shape, np.uint8)
        self._images = {f"image_{i}": self._black for i in range(config.num_images)}
        self._text = np.full(num_envs, config.text)
        self._ones = np.ones(num_envs)
        # To add an int, or to compare with one, is slower.
        self._one_each = np.ones(num_envs, np.int64)
        self._lengths = np.full(num_envs, config.episode_length)
        self._never = np.zeros(num_envs, np.bool_)

    def reset(self, env_indices: NDArray[np.int64], seeds: Sequence[int] | None) -> Observation:
        """Set the step counts to 0; there is nothing to seed."""
        self._steps[env_indices] = 0
        return self._observe(self._steps[env_indices])

    def step(self, env_indices: NDArray[np.int64], actions: Array) -> StepResult:
        """Count a step."""
        num = len(env_indices)
        if num == self.num_envs:
            # They come in ascending order: all of them.
            steps = self._steps = self._steps + self._one_each
        else:
            steps = self._steps[env_indices] + self._one_each[:num]
            self._steps[env_indices] = steps
        return StepResult(
            obs=self._observe(steps),
            rewards=self._ones[:num],
            terminated=steps >= self._lengths[:num],
            truncated=self._never[:num],
        )

    def render(self) -> NDArray[np.uint8]:
        """Black."""
        picture: NDArray[np.uint8] = self._black[0]
        return picture

    def _observe(self, steps: NDArray[np.int64]) -> Observation:
        num = len(steps)
        config = self._config
        states: dict[str, Array] = {}
        if config.state_dim:
            states["state"] = np.empty((num, config.state_dim))
            states["state"][:] = steps[:, None]
        if num == self.num_envs:
            return Observation(self._images, states, self._text)
        images = {name: image[:num] for name, image in self._images.items()}
        return Observation(images, states, self._text[:num])
