"""The end of a process that has used Prefect."""

import logging
import os
import signal
import sys
import threading
from typing import NoReturn

DRAIN_TIMEOUT_S = 5.0
"""How long Prefect may take to send the log lines and events that it still holds."""


def leave(code: int) -> NoReturn:
    """Exit with ``code``: Prefect's threads, whose API may be away, would wait for minutes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if "prefect" in sys.modules:
        thread = threading.Thread(target=_drain, daemon=True)
        thread.start()
        thread.join(DRAIN_TIMEOUT_S)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _drain() -> None:
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    # A heartbeat may come once events are taken no more: its traceback concerns nobody. Nor does
    # what can't be sent to an API that is away, which Prefect would print past all loggers.
    logging.getLogger("prefect.events").setLevel(logging.CRITICAL)
    logging.raiseExceptions = False
    APILogWorker.drain_all(timeout=DRAIN_TIMEOUT_S, at_exit=False)
    EventsWorker.drain_all(timeout=DRAIN_TIMEOUT_S, at_exit=False)
