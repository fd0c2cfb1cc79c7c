"""Scaling of rewards by the deviation of the discounted return.

Legend: m frames, ordered by stream and in each stream by time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plugrl.data.moments import Moments

_VARIANCE_EPS = 1e-8


class RunningReturn(NamedTuple):
    """A stream's discounted sum of past rewards, G, after one of its frames."""

    sequence: int
    """Of that frame."""
    value: float
    """G; 0 where the frame ended its episode."""


class RewardScaler:
    """Divides rewards by sqrt(var(G)), where G <- gamma G + r goes back to 0 at an episode's end.

    The mean is not subtracted: that would change which policy is best.
    """

    def __init__(self, *, gamma: float, clip: float) -> None:
        """Start with a deviation of 1.

        Args:
            gamma: discount of a frame.
            clip: bound of a scaled reward.
        """
        self._gamma = gamma
        self._clip = clip
        self.moments = Moments.empty()
        self.running: dict[int, RunningReturn] = {}
        """By stream; of the streams of the latest rollout only, for others never come back."""

    def update(
        self,
        streams: NDArray[np.int64],
        sequence: NDArray[np.int64],
        rewards: NDArray[np.float64],
        done: NDArray[np.bool_],
    ) -> None:
        """Take note of a rollout's raw rewards; all arguments (m,)."""
        running: dict[int, RunningReturn] = {}
        returns = []
        for stream, at, reward, ended in zip(
            streams.tolist(), sequence.tolist(), rewards.tolist(), done.tolist(), strict=True
        ):
            past = running.get(stream) or self.running.get(stream)
            value = self._discounted(past, at) + reward
            returns.append(value)
            running[stream] = RunningReturn(at, 0.0 if ended else value)
        self.running = running
        self.moments = self.moments.including(np.array(returns))

    def scale(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled and clipped rewards, (m,)."""
        scaled = rewards / np.sqrt(self.moments.var + _VARIANCE_EPS)
        return np.clip(scaled, -self._clip, self._clip)

    def state(self) -> dict[str, Any]:
        """JSON that ``load_state`` takes back."""
        return {
            "moments": self.moments.state(),
            "running": {str(stream): list(past) for stream, past in self.running.items()},
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Become what ``state`` returned."""
        self.moments = Moments.from_state(state["moments"])
        self.running = {
            int(stream): RunningReturn(*past) for stream, past in state["running"].items()
        }

    def _discounted(self, past: RunningReturn | None, at: int) -> float:
        """What is left of a stream's G at its frame ``at``; frames missing between paid nothing.

        A stream that starts again from a lower number is another one, after a restart.
        """
        if past is None or at <= past.sequence:
            return 0.0
        return float(self._gamma ** (at - past.sequence) * past.value)
