"""How often what crashed is started again, and after how long."""

import random
from dataclasses import dataclass

from plugrl.config.base import require

MAX_DELAY_S = 60.0
"""Longest pause before an attempt."""
JITTER = 0.2
"""Pauses are longer by up to this part, so that what fails together does not return in step."""


@dataclass(frozen=True, kw_only=True)
class RestartConfig:
    """What happens when the server or its env clients crash."""

    retries: int = 3
    """Crashes in a row without a new checkpoint, after which another one ends the run."""
    retry_delay: float = 1.0
    """Seconds before the first new attempt; doubles with each crash without a new checkpoint."""

    def __post_init__(self) -> None:
        require(self, self.retries >= 0, "retries", "at least 0")
        require(self, 0 <= self.retry_delay <= MAX_DELAY_S, "retry_delay", "0 to 60")


NO_RESTARTS = RestartConfig(retries=0)


class RestartBudget:
    """Counts crashes; progress between two of them makes it whole again."""

    def __init__(self, config: RestartConfig) -> None:
        """Begin whole."""
        self._config = config
        self._crashes = 0
        self._step: int | None = None
        # No experiment draws from it.
        self._rng = random.Random()  # noqa: S311

    def spend(self, step: int | None) -> float | None:
        """Count a crash.

        Args:
            step: the newest checkpoint's; None where there is none.

        Returns:
            Seconds to wait before the next attempt; None if there is to be none.
        """
        if step != self._step:
            self._crashes, self._step = 0, step
        self._crashes += 1
        if self._crashes > self._config.retries:
            return None
        pause = self._config.retry_delay * 2.0 ** min(self._crashes - 1, 60)
        return min(pause * self._rng.uniform(1.0, 1.0 + JITTER), MAX_DELAY_S)
