"""One model, one user at a time: short calls on the event loop, long ones in one thread."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

INLINE_LIMIT_S = 0.002
"""Calls that lately took less stay on the event loop: a thread's hop would cost as much."""
_LATENCY_WINDOW = 1024


class ModelTurn:
    """Runs calls that use the model; its owner lets each end before the next.

    The thread is a daemon: a learn that ignores every request to stop must not keep the process.
    """

    def __init__(self) -> None:
        """Start without a thread; the first long call makes it."""
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._brief_s = float("inf")
        self.busy = False
        """Whether a call is in progress."""
        self.brief_seconds: deque[float] = deque(maxlen=_LATENCY_WINDOW)
        """How long the latest calls of ``brief`` and ``here`` took."""

    @property
    def is_quick(self) -> bool:
        """Whether calls of ``brief`` have lately been so quick that the next one is made here."""
        return self._brief_s < INLINE_LIMIT_S

    async def brief(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``function`` here if it has lately been quick, else in the thread."""
        if self.is_quick:
            return self.here(function, *args, **kwargs)
        outcome: tuple[T, float] = await self.long(_timed, function, *args, **kwargs)
        result, seconds = outcome
        self._note(seconds)
        return result

    def here(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``function`` here, as ``brief`` does while ``is_quick``: for the caller to ask."""
        result, seconds = _timed(function, *args, **kwargs)
        self._note(seconds)
        return result

    def _note(self, seconds: float) -> None:
        # Rises at once and falls slowly: one slow call sends the next ones to the thread.
        self._brief_s = max(seconds, 0.9 * min(self._brief_s, 1.0))
        self.brief_seconds.append(seconds)

    async def long(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call ``function`` in the thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def call() -> None:
            result: Any = None
            error: BaseException | None = None
            try:
                result = function(*args, **kwargs)
            except BaseException as raised:  # noqa: BLE001 - handed to the awaiting task
                error = raised
            # Nobody is left to be told where a learn was given up and the loop has ended.
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, future, result, error)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="model", daemon=True)
            self._thread.start()
        self.busy = True
        self._calls.put(call)
        try:
            return await future
        finally:
            self.busy = False

    def close(self) -> None:
        """Let the thread end once it is idle."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _timed(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T, float]:
    started = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - started


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
