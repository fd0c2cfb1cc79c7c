"""The end of a process that has used Prefect."""

import subprocess
import sys

LATE_EVENT = """
from prefect.events import utilities
from flows import leaving
leaving._drain()
try:
    raise RuntimeError("too late")
except RuntimeError:
    utilities.logger.exception("Error emitting event: heartbeat")
"""


def test_an_event_that_comes_too_late_leaves_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", LATE_EVENT], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
