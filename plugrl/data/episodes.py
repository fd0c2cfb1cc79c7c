"""Statistics of the latest finished episodes, as clients report them in ``info["episode"]``."""

import operator
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.protocol.messages import Info

MAX_RETURN = float(np.finfo(np.float32).max)
MAX_LENGTH = 2**53
"""Steps of an episode; every number up to here is a float64."""


class EpisodeStats:
    """Means over the last ``window`` episodes, and their count since the run's first step."""

    def __init__(self, window: int = 100) -> None:
        """Start empty."""
        self.num_episodes = 0
        self.returns: deque[float] = deque(maxlen=window)
        self.lengths: deque[int] = deque(maxlen=window)
        self.successes: deque[bool] = deque(maxlen=window)
        self.any_success = False
        """Whether one was ever seen: clients say "no success" of envs that know none, too."""

    def record(self, info: Info, done: NDArray[np.bool_]) -> int:
        """Take the episodes of the frames that are done (m,); returns how many there were.

        Those that can't be are left out: a return that is no finite float32, a length below 0 or
        beyond ``MAX_LENGTH``.
        """
        if not done.any():
            return 0
        episode = info.get("episode")
        if not isinstance(episode, dict) or "r" not in episode:
            return 0
        finished = done & _column(episode, "mask", done, default=True).astype(bool)
        returns, lengths = (
            _column(episode, "r", done, default=0.0),
            _column(episode, "l", done, default=0),
        )
        # One NaN of one client would hide the means of everybody's next hundred episodes.
        finished &= np.abs(returns) <= MAX_RETURN
        finished &= (lengths >= 0) & (lengths <= MAX_LENGTH)
        successes = _column(episode, "s", done, default=False)
        for i in np.flatnonzero(finished):
            self.num_episodes += 1
            self.returns.append(float(returns[i]))
            self.lengths.append(int(lengths[i]))
            if "s" in episode:
                self.successes.append(bool(successes[i]))
                self.any_success |= self.successes[-1]
        return int(finished.sum())

    def metrics(self) -> dict[str, float]:
        """Means over the window; empty before the first episode.

        The success rate is among them from the first success on.
        """
        if not self.returns:
            return {}
        means = {
            "rollout/episode_return_mean": float(np.mean(self.returns)),
            "rollout/episode_length_mean": float(np.mean(self.lengths)),
            "rollout/num_episodes": float(self.num_episodes),
        }
        if self.any_success:
            means["rollout/success_rate"] = float(np.mean(self.successes))
        return means

    def state(self) -> dict[str, Any]:
        """JSON that ``load_state`` takes back."""
        return {
            "num_episodes": self.num_episodes,
            "returns": list(self.returns),
            "lengths": list(self.lengths),
            "successes": list(self.successes),
            "any_success": self.any_success,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what ``state`` returned.

        Raises:
            LookupError, TypeError, ValueError: it did not return this.
        """
        self.num_episodes = operator.index(state["num_episodes"])
        self.returns.extend(map(float, state["returns"]))
        self.lengths.extend(map(operator.index, state["lengths"]))
        self.successes.extend(map(bool, state["successes"]))
        # Older checkpoints don't have it.
        self.any_success = state.get("any_success", any(self.successes))


def _column(episode: Info, key: str, done: NDArray[np.bool_], *, default: Any) -> NDArray[Any]:
    value = np.asarray(episode.get(key, default))
    return (
        value if value.shape == done.shape else np.broadcast_to(value.reshape(-1)[:1], done.shape)
    )
