"""The event loop that a server runs on."""

import asyncio
import importlib.util

import pytest
import uvloop

from plugrl.server import event_loop


async def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_uvloop_is_used_where_it_is_installed() -> None:
    assert isinstance(event_loop.run(_running()), uvloop.Loop)


def test_asyncio_serves_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not isinstance(event_loop.run(_running()), uvloop.Loop)


def test_the_loop_is_closed_afterwards() -> None:
    assert event_loop.run(_running()).is_closed()
