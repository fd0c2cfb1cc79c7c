"""Where calls of the model run."""

import asyncio
import threading
import time

import pytest

from plugrl.server.turn import ModelTurn


async def test_the_first_brief_call_runs_off_the_loop_and_quick_ones_then_on_it():
    turn = ModelTurn()
    threads = [await turn.brief(threading.current_thread) for _ in range(80)]
    assert threads[0] is not threading.main_thread()
    # Not the last one: it would be sent off again where the machine took the CPU away just then.
    assert threading.main_thread() in threads


async def test_one_slow_call_sends_the_next_ones_to_the_thread():
    turn = ModelTurn()
    for _ in range(80):
        await turn.brief(int)
    await turn.brief(time.sleep, 0.02)
    assert await turn.brief(threading.current_thread) is not threading.main_thread()


async def test_a_slow_call_made_here_sends_the_next_ones_to_the_thread():
    turn = ModelTurn()
    while not turn.is_quick:
        await turn.brief(int)
    assert turn.here(int, "3") == 3
    assert turn.is_quick
    turn.here(time.sleep, 0.02)
    assert not turn.is_quick


async def test_an_error_reaches_the_caller_and_the_next_call_works():
    turn = ModelTurn()
    with pytest.raises(ValueError, match="boom"):
        await turn.long(_fail)
    assert not turn.busy
    assert await turn.long(int, "3") == 3


async def test_it_is_busy_while_a_long_call_runs():
    turn = ModelTurn()
    go_on = threading.Event()
    call = asyncio.create_task(turn.long(go_on.wait, 5))
    await asyncio.sleep(0)
    assert turn.busy
    go_on.set()
    assert await call is True
    assert not turn.busy


async def test_a_cancelled_caller_leaves_the_thread_usable():
    turn = ModelTurn()
    go_on = threading.Event()
    call = asyncio.create_task(turn.long(go_on.wait, 5))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go_on.set()
    assert await turn.long(int, "3") == 3


def _fail() -> None:
    raise ValueError("boom")
