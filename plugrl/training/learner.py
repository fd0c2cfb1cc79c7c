"""Where a learn is computed: for now, in this process."""

from typing import Any

from plugrl.algorithms.algorithm import Algorithm
from plugrl.data.progress import LearnProgress
from plugrl.errors import LearnInterruptedError


class InProcessLearner:
    """Learns in the calling thread; an interrupted learn leaves no trace."""

    def __init__(self, algorithm: Algorithm[Any]) -> None:
        """Have ``algorithm`` learn."""
        self._algorithm = algorithm

    def learn(self, progress: LearnProgress) -> dict[str, float]:
        """Learn from the frames collected; returns metrics by name.

        Raises:
            LearnInterruptedError: ``progress`` was interrupted, and the algorithm is again exactly
                what it was before this call, its frames dropped.
        """
        before = self._algorithm.state()
        try:
            return self._algorithm.learn(progress)
        except LearnInterruptedError:
            self._algorithm.load_state(before)
            raise
