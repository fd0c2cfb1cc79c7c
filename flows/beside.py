"""Running a flow so that what it does counts, and not what Prefect makes of it.

Prefect's calls block or raise when its API is away. The body of a flow gives its outcome to a
future; whoever runs the flow takes it from there, and leaves Prefect a limited time to take note.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from plugrl.server.signals import ECHO_S

logger = logging.getLogger(__name__)

FAREWELL_TIMEOUT_S = 15.0
"""How long Prefect may take to note the end of a flow whose body has ended."""
LEFTOVER_TIMEOUT_S = 2.0
"""How long what it has left running may take to end."""
NOISY = frozenset({"prefect", "EventsWorker", "httpx", "httpcore", "asyncio"})
"""Loggers, and those below them, whose errors at the end are that Prefect's API is away."""

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


def run(
    main: Coroutine[Any, Any, T],
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> T:
    """Run ``main`` as ``asyncio.run`` does, but wait only a moment for what it leaves behind.

    Calls of an API that hangs are not to be ended before it answers. A process that has such left
    must end by ``flows.leaving.leave``.
    """
    runner = asyncio.Runner(loop_factory=loop_factory)
    try:
        return runner.run(main)
    finally:
        if runner.run(_nothing_is_left()):
            runner.close()


async def _nothing_is_left() -> bool:
    leftovers = asyncio.all_tasks() - {asyncio.current_task()}
    for task in leftovers:
        task.cancel()
    return not leftovers or not (await asyncio.wait(leftovers, timeout=LEFTOVER_TIMEOUT_S))[1]


async def outcome_of(flow_call: Coroutine[Any, Any, object]) -> Any:
    """Run a flow; returns what its body told, or None where Prefect did not get to the body."""
    outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    _outcome.set(outcome)
    logging.getLogger("prefect.flow_runs").addFilter(_stop_is_no_error)
    running = asyncio.create_task(flow_call)
    await asyncio.wait({running, outcome}, return_when=asyncio.FIRST_COMPLETED)
    if outcome.done():
        await _farewell(running)
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


async def _farewell(running: "asyncio.Task[object]") -> None:
    """Give Prefect its time: what matters is done. Who wants to stop this as well, gets that."""
    loop, hurry = asyncio.get_running_loop(), asyncio.Event()
    # The signal that has brought the end about may arrive twice.
    began = loop.time()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(
            number, lambda: hurry.set() if loop.time() - began > ECHO_S else None
        )
    for handler in (*logging.getLogger("prefect").handlers, *logging.getLogger().handlers):
        handler.addFilter(_is_worth_reading)
    hurried = asyncio.create_task(hurry.wait())
    await asyncio.wait(
        {running, hurried}, timeout=FAREWELL_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
    )
    hurried.cancel()


def _is_worth_reading(record: logging.LogRecord) -> bool:
    return record.levelno < logging.ERROR or record.name.partition(".")[0] not in NOISY
