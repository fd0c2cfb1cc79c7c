"""The event loop that a server runs on: uvloop where it is installed, else asyncio's own.

A small message costs asyncio's loop more Python code than all else that a server does with it.
"""

import asyncio
import importlib.util
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` in a fresh event loop until it returns, as ``asyncio.run`` does."""
    with asyncio.Runner(loop_factory=new) as runner:
        return runner.run(main)


def new() -> asyncio.AbstractEventLoop:
    """A fresh event loop of the faster kind that there is."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
