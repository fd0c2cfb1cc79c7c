"""Leaves coverage out of what it has no use for: its tracer doubles the time of all Python code."""

import contextlib
from collections.abc import Iterator

from coverage import Coverage


def is_measured() -> bool:
    """Whether coverage looks on."""
    return Coverage.current() is not None


@contextlib.contextmanager
def unmeasured() -> Iterator[None]:
    """Nothing inside is measured.

    pytest-cov's own ``no_cover`` pauses one of the two measurements that it begins in the workers
    of a distributed run, and the other goes on.
    """
    paused: list[Coverage] = []
    while (measuring := Coverage.current()) is not None:
        measuring.stop()
        paused.append(measuring)
    try:
        yield
    finally:
        for measuring in reversed(paused):
            measuring.start()
