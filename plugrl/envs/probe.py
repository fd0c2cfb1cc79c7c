"""The env of the wire protocol's conformance tests: everything about it can be foretold."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.config.probe import DEFAULT_ACTION_DIM, ProbeEnvConfig
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.errors import IncompatibleError
from plugrl.protocol.messages import Array, Observation


class ProbeEnv(VectorEnv):
    """Env i has episodes of 3 + 2 (i mod 3) steps, pays 1 a step and always terminates.

    ``states.t`` (n, 1) is the steps so far, ``states.a`` (n, d) the last action.
    """

    def __init__(self, config: ProbeEnvConfig, num_envs: int) -> None:
        """Start all envs at step 0."""
        self.num_envs = num_envs
        self._fixed_dim = config.action_dim
        self._lengths = 3 + 2 * (np.arange(num_envs) % 3)
        self._steps = np.zeros(num_envs, np.int64)
        self._actions = np.zeros((num_envs, config.action_dim or DEFAULT_ACTION_DIM))

    def greet(self, metadata: Mapping[str, Any]) -> None:
        """Take the width of actions from the server, unless the config fixes it."""
        told = metadata.get("action_dim")
        if self._fixed_dim is None and isinstance(told, int) and told >= 1:
            self._widen(told)

    def reset(self, env_indices: NDArray[np.int64], seeds: Sequence[int] | None) -> Observation:
        """Set step counts and last actions to 0; there is nothing to seed."""
        self._steps[env_indices] = 0
        self._actions[env_indices] = 0
        return self._observe(env_indices)

    def step(self, env_indices: NDArray[np.int64], actions: Array) -> StepResult:
        """Count a step and remember the action.

        Raises:
            IncompatibleError: the config fixes another width.
        """
        flat = actions.reshape(len(actions), -1)
        self._check_width(flat.shape[1])
        self._steps[env_indices] += 1
        self._actions[env_indices] = flat
        return StepResult(
            obs=self._observe(env_indices),
            rewards=np.ones(len(env_indices)),
            terminated=self._steps[env_indices] == self._lengths[env_indices],
            truncated=np.zeros(len(env_indices), np.bool_),
        )

    def _check_width(self, width: int) -> None:
        if self._fixed_dim is None:
            self._widen(width)
        elif width != self._fixed_dim:
            raise IncompatibleError(
                f"expected actions {self._fixed_dim} wide, got {width} from the server; set "
                f"--env.action-dim {width}, or leave it out"
            )

    def _widen(self, width: int) -> None:
        if width != self._actions.shape[1]:
            self._actions = np.zeros((self.num_envs, width))

    def _observe(self, env_indices: NDArray[np.int64]) -> Observation:
        t = self._steps[env_indices].astype(np.float64)[:, None]
        text = np.full(len(env_indices), "")
        return Observation({}, {"t": t, "a": self._actions[env_indices]}, text)
