"""Where a learn is: written by the learning thread, read and interrupted by the server."""

import time

from plugrl.errors import LearnInterruptedError


class LearnProgress:
    """One learn's progress; assignments of plain fields are all that passes between threads."""

    def __init__(self) -> None:
        """Start the clock."""
        self.started_at = time.monotonic()
        """Seconds of the monotonic clock."""
        self.epoch = 0
        self.num_epochs = 0
        self.minibatch = 0
        self.num_minibatches = 0
        self._interrupted = False

    def step(self, *, epoch: int, num_epochs: int, minibatch: int, num_minibatches: int) -> None:
        """Report the minibatch about to be computed; counts start at 0.

        Raises:
            LearnInterruptedError: a stop is wanted; leave ``learn`` at once, the caller rolls back.
        """
        if self._interrupted:
            raise LearnInterruptedError(f"stopped before epoch {epoch}, minibatch {minibatch}")
        self.epoch, self.num_epochs = epoch, num_epochs
        self.minibatch, self.num_minibatches = minibatch, num_minibatches

    def interrupt(self) -> None:
        """Make the next ``step`` raise; any thread may call this."""
        self._interrupted = True
