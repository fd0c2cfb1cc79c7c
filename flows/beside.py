"""Running a flow so that what it does counts, and not what Prefect makes of it.

Prefect's calls block or raise when its API is away. The body of a flow gives its outcome to a
future; whoever runs the flow takes it from there, and leaves Prefect a limited time to take note.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

FAREWELL_TIMEOUT_S = 15.0
"""How long Prefect may take to note the end of a flow whose body has ended."""

T = TypeVar("T")

_outcome: ContextVar[asyncio.Future[Any]] = ContextVar("outcome")


def tell(outcome: Any) -> None:
    """Give the outcome to whoever runs the flow, if somebody wants it."""
    if (future := _outcome.get(None)) is not None and not future.done():
        future.set_result(outcome)


@contextlib.contextmanager
def telling_of_errors() -> Iterator[None]:
    """Give the exception that ends the body as its outcome."""
    try:
        yield
    except BaseException as error:
        tell(error)
        raise


async def outcome_of(flow_call: Coroutine[Any, Any, object]) -> Any:
    """Run a flow; returns what its body told, or None where Prefect did not get to the body."""
    outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    _outcome.set(outcome)
    logging.getLogger("prefect.flow_runs").addFilter(_stop_is_no_error)
    running = asyncio.create_task(flow_call)
    await asyncio.wait({running, outcome}, return_when=asyncio.FIRST_COMPLETED)
    if outcome.done():
        # What matters is done, and whoever wants to stop it has to wait no longer than this.
        _hear_no_signals()
        await asyncio.wait({running}, timeout=FAREWELL_TIMEOUT_S)
    if not running.done():
        running.cancel()
        logger.warning("Prefect did not take note of the end in time; the run's folder has it")
    elif not running.cancelled() and (error := running.exception()) is not None:
        logger.warning("Prefect did not take note: %s: %s", type(error).__name__, error)
    return outcome.result() if outcome.done() else None


def _stop_is_no_error(record: logging.LogRecord) -> bool:
    """Prefect calls every end but success an error."""
    if str(record.msg).startswith("Finished in state Cancelled("):
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    return True


def _hear_no_signals() -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: None)
