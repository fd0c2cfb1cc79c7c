"""Lines on their way to a file, which wait while the disk refuses them."""

from collections import deque
from pathlib import Path

from plugrl.runs.files import append_text

MAX_PENDING_LINES = 20_000
"""Lines that wait; the oldest give way."""


class PendingLines:
    """Takes lines from any thread; one thread flushes them to a file."""

    def __init__(self, path: Path) -> None:
        """Write to ``path``, once it is flushed."""
        self._path = path
        self._lines: deque[str] = deque(maxlen=MAX_PENDING_LINES)

    def __len__(self) -> int:
        """How many wait."""
        return len(self._lines)

    def add(self, line: str) -> None:
        """Take a line, its end included; never blocks."""
        self._lines.append(line)

    def flush(self) -> None:
        """Append what waits.

        Raises:
            OSError: the disk refused; the lines wait on.
        """
        num_lines = len(self._lines)
        if num_lines == 0:
            return
        taken = [self._lines.popleft() for _ in range(num_lines)]
        try:
            append_text(self._path, "".join(taken))
        except OSError:
            # The oldest give way to those that came meanwhile, too.
            room = MAX_PENDING_LINES - len(self._lines)
            self._lines.extendleft(reversed(taken[max(0, num_lines - room) :]))
            raise
