"""Work on a disk that may hang, done beside the event loop, which waits no longer than it wants."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class DiskThread:
    """Does one piece of work after another, in one thread.

    Nothing waits for the thread: neither the loop's end, as for asyncio's own threads, nor that of
    the process. What hangs is left behind.
    """

    def __init__(self) -> None:
        """Begin without a thread."""
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def do(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Have ``work`` done after all that was given before; its result or its exception comes.

        A future that is cancelled, or given up, leaves the work as it is.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result, error = work(), None
            except Exception as caught:  # noqa: BLE001 -- whoever awaits it judges
                result, error = None, caught
            # Nobody is left to tell where the loop is closed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, future, result, error)

        self._work.put(run)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="disk", daemon=True)
            self._thread.start()
        return future

    def _run(self) -> None:
        while True:
            self._work.get()()


def _settle(future: "asyncio.Future[Any]", result: object, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
