import asyncio
import contextlib
import logging
import os
import signal

import pytest

from flows import beside
from flows.beside import outcome_of, tell, telling_of_errors


async def test_the_outcome_is_what_the_body_told():
    async def flow() -> None:
        tell("done")

    assert await outcome_of(flow()) == "done"


async def test_an_outcome_stands_whatever_comes_after_it():
    async def flow() -> None:
        tell("done")
        raise RuntimeError("the API is away")

    assert await outcome_of(flow()) == "done"


async def test_there_is_none_where_the_body_was_not_reached(caplog):
    async def flow() -> None:
        raise RuntimeError("the API is away")

    assert await outcome_of(flow()) is None
    assert "RuntimeError: the API is away" in caplog.text


async def test_an_error_of_the_body_is_its_outcome():
    error = ValueError("boom")

    async def flow() -> None:
        with telling_of_errors():
            raise error

    assert await outcome_of(flow()) is error


async def test_a_farewell_that_takes_too_long_is_cut_short(monkeypatch, caplog):
    monkeypatch.setattr(beside, "FAREWELL_TIMEOUT_S", 0.05)

    async def flow() -> None:
        tell("done")
        await asyncio.Event().wait()

    assert await outcome_of(flow()) == "done"
    assert "in time" in caplog.text


async def test_a_second_signal_cuts_the_farewell_short(monkeypatch):
    monkeypatch.setattr(beside, "ECHO_S", -1.0)

    async def flow() -> None:
        tell("done")
        # Once the farewell listens to it.
        asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    async with asyncio.timeout(beside.FAREWELL_TIMEOUT_S / 2):
        assert await outcome_of(flow()) == "done"


def test_what_does_not_end_is_left_behind(monkeypatch):
    monkeypatch.setattr(beside, "LEFTOVER_TIMEOUT_S", 0.05)
    left: list[asyncio.Task[None]] = []
    enough = asyncio.Event()

    async def never_ends() -> None:
        while not enough.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await enough.wait()

    async def main() -> str:
        left.append(asyncio.create_task(never_ends()))
        await asyncio.sleep(0)
        return "done"

    assert beside.run(main()) == "done"
    (task,) = left
    assert not task.done()
    # In a process that goes on it has to be put away.
    enough.set()
    loop = task.get_loop()
    loop.run_until_complete(task)
    loop.close()


def test_an_error_at_the_end_is_not_shown_where_it_is_that_prefect_is_away():
    for name, level, shown in (
        ("prefect.flow_runs", logging.ERROR, False),
        ("EventsWorker", logging.ERROR, False),
        ("prefect.flow_runs", logging.INFO, True),
        ("flows.beside", logging.ERROR, True),
    ):
        record = logging.makeLogRecord({"name": name, "levelno": level})
        assert beside._is_worth_reading(record) is shown


def test_nobody_needs_to_listen():
    tell("done")
    with pytest.raises(ValueError, match="boom"), telling_of_errors():
        raise ValueError("boom")


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("Finished in state Cancelled('stopped by SIGINT')", logging.INFO),
        ("Finished in state Failed('boom')", logging.ERROR),
    ],
)
async def test_to_be_stopped_is_no_error(message, level):
    async def flow():
        tell("stopped")

    await outcome_of(flow())
    record = logging.makeLogRecord({"msg": message, "levelno": logging.ERROR})
    assert logging.getLogger("prefect.flow_runs").filter(record)
    assert record.levelno == level
