"""How each env's episode stands, and what is reported when it ends. n: envs."""

from collections import deque
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.envs.base import StepResult
from plugrl.protocol.messages import Info, any_true

Rows: TypeAlias = NDArray[np.int64] | slice
"""Which envs: (k,) indices or a slice, the faster one."""
EVERYONE = slice(None)

_FLOAT64 = np.dtype(np.float64)

RECENT = 100
"""Episodes that ``mean_return`` looks back on."""


class EpisodeCounts:
    """Return, length, success and action chunks of the episode in progress in each of n envs."""

    def __init__(self, num_envs: int) -> None:
        """Start with all at 0."""
        self.chunks = np.zeros(num_envs, np.int64)
        """(n,) action chunks run in the episode."""
        self.num_finished = 0
        """Episodes that ended and were reported."""
        self.num_steps = 0
        """Env steps, over all envs and episodes."""
        self._one_each = np.ones(num_envs, np.int64)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._successes = np.zeros(num_envs, np.bool_)
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def mean_return(self) -> float:
        """Mean over the last 100 episodes; NaN before the first has ended."""
        return float(np.mean(self._recent)) if self._recent else float("nan")

    def start(self, index: NDArray[np.int64]) -> None:
        """Begin an episode in some envs, (k,) indices."""
        for count in (self.chunks, self._returns, self._lengths, self._successes):
            count[index] = 0

    def step(self, rows: Rows, result: StepResult) -> None:
        """Count a step of some envs."""
        self.num_steps += len(result.rewards)
        if rows is EVERYONE:
            # New arrays, and one added as an array: to add in place, or an int, is slower.
            self._lengths = self._lengths + self._one_each
            returns = self._returns + result.rewards
            if returns.dtype is not _FLOAT64 or returns.shape != self._returns.shape:
                # In place it stays float64, and rewards of another shape are refused.
                returns = self._returns
                returns += result.rewards
            self._returns = returns
        else:
            self._returns[rows] += result.rewards
            self._lengths[rows] += 1
        if "success" in result.info:
            self._successes[rows] = result.info["success"]

    def end_chunk(self) -> None:
        """Count an action chunk of every env."""
        self.chunks = self.chunks + self._one_each

    def report(self, done: NDArray[np.bool_]) -> Info:
        """The ``info`` of a feedback of all n envs, of which ``done`` (n,) ended an episode."""
        if not any_true(done):
            return {}
        self._recent.extend(self._returns[done].tolist())
        return {
            "episode": {
                "r": np.where(done, self._returns, 0.0),
                "l": np.where(done, self._lengths, 0),
                "s": self._successes & done,
                "mask": done,
            }
        }
