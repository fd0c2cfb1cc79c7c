import asyncio
import threading

import pytest

from plugrl.cli.disk_thread import DiskThread


async def test_work_is_done_in_order_and_its_result_comes():
    disk, begun = DiskThread(), iter(range(5))
    results = [disk.do(lambda: next(begun)) for _ in range(5)]
    assert await asyncio.gather(*results) == list(range(5))


async def test_what_work_raises_comes_to_whoever_awaits_it():
    def refuse() -> None:
        raise OSError(30, "Read-only file system")

    disk = DiskThread()
    with pytest.raises(OSError, match="Read-only"):
        await disk.do(refuse)
    assert await disk.do(lambda: 1) == 1


def test_work_that_hangs_keeps_neither_the_loop_nor_what_comes_after_it():
    hangs = threading.Event()

    async def give_up() -> bool:
        _, late = await asyncio.wait((DiskThread().do(hangs.wait),), timeout=0.05)
        return bool(late)

    assert asyncio.run(give_up())
    # The thread finds no loop any more, and nobody who waits.
    hangs.set()
