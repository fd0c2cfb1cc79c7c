import os
import resource
import socket
from collections.abc import Callable, Iterator

import pytest

from plugrl.client import busy_wait
from plugrl.client.busy_wait import LATELY, BusyWait

pytestmark = pytest.mark.skipif(not busy_wait.AVAILABLE, reason="no sched_yield here")
NUM_CORES = 2


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[socket.socket, socket.socket]]:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(NUM_CORES)))
    # No wait is long, however slow the machine is.
    monkeypatch.setattr(busy_wait, "LONGEST_S", 60.0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def yields(pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One number a look that found nothing, whereupon the peer sends a byte."""
    seen: list[int] = []

    def sched_yield() -> None:
        seen.append(len(seen))
        pair[1].send(b"x")

    monkeypatch.setattr(os, "sched_yield", sched_yield)
    return seen


def short_wait(wait: BusyWait, peer: socket.socket) -> None:
    peer.send(b"a")
    assert wait.recv(1) == b"a"


def test_after_a_short_wait_the_next_is_spent_awake(pair, yields):
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    assert wait.recv(1) == b"x"
    assert yields == [0]


def test_after_a_long_wait_the_next_is_slept_through(pair, yields, monkeypatch):
    wait = BusyWait(pair[0], num_procs=1)
    monkeypatch.setattr(busy_wait, "LONGEST_S", 0.0)
    short_wait(wait, pair[1])
    short_wait(wait, pair[1])
    assert yields == []


def test_a_wait_that_turns_out_long_is_slept_through(pair, yields, monkeypatch):
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    monkeypatch.setattr(busy_wait, "LONGEST_S", 0.0)
    short_wait(wait, pair[1])
    assert yields == []


def test_without_a_core_for_everybody_all_waits_are_slept_through(pair, yields):
    wait = BusyWait(pair[0], num_procs=NUM_CORES)
    for _ in range(3):
        short_wait(wait, pair[1])
    assert yields == []


def displace(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Have another process take the core in every ``every``-th look."""
    calls = iter(range(10_000))
    real = resource.getrusage(resource.RUSAGE_THREAD)

    class Usage:
        def __init__(self) -> None:
            look, is_after = divmod(next(calls), 2)
            self.ru_nivcsw = real.ru_nivcsw + (is_after and look % every == 0)

    monkeypatch.setattr(resource, "getrusage", lambda who: Usage())


def test_who_is_displaced_again_and_again_leaves_the_core_to_others_for_a_while(
    pair, yields, monkeypatch
):
    monkeypatch.setattr(busy_wait, "PAUSE", 50)
    displace(monkeypatch, every=1)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    while not wait.pausing:
        assert wait.recv(1) == b"x"
    looks = len(yields)
    assert 2 < looks < LATELY
    for _ in range(50):
        short_wait(wait, pair[1])
    assert len(yields) == looks
    assert wait.recv(1) == b"x"
    assert len(yields) == looks + 1


def test_who_is_displaced_now_and_then_stays_awake(pair, yields, monkeypatch):
    displace(monkeypatch, every=3)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    for _ in range(100):
        assert wait.recv(1) == b"x"
    assert len(yields) == 100


def test_the_end_of_the_stream_is_no_bytes(pair, monkeypatch):
    hang_up: Callable[[], None] = pair[1].close
    monkeypatch.setattr(os, "sched_yield", hang_up)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    assert wait.recv(1) == b""
