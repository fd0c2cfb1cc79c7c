"""Time that passes when a test says so."""

NOW = 1_800_000_000.0
"""Seconds since 1970; when every such clock begins."""


class Clock:
    """Stands still until ``now`` is set."""

    now = NOW

    def __call__(self) -> float:
        return self.now
