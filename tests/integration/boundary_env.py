"""An env without chance, whose episodes end wherever a rollout of the tests ends."""

from typing import Any

import gymnasium as gym
import numpy as np

EPISODE_STEPS = 16


class BoundaryEnv(gym.Env[Any, Any]):
    """Push a mass towards the origin; every episode starts alike and has 16 steps."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self._position, self._velocity, self._steps = 1.0, 0.0, 0
        return self._obs(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._velocity += 0.1 * float(action[0])
        self._position += 0.1 * self._velocity
        self._steps += 1
        return self._obs(), -abs(self._position), self._steps == EPISODE_STEPS, False, {}

    def _obs(self) -> Any:
        return np.array([self._position, self._velocity, self._steps / EPISODE_STEPS])
