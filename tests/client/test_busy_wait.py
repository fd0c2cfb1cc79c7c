import os
import resource
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from plugrl.client import busy_wait
from plugrl.client.busy_wait import LATELY, BusyWait

pytestmark = pytest.mark.skipif(
    not busy_wait.AVAILABLE, reason="this system does not count displacements"
)
NUM_CORES = 2


class Looked(socket.socket):
    """Notes what each call that doesn't wait has found."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.looks: list[str] = []

    def recv(self, most: int, flags: int = 0) -> bytes:
        if not flags & socket.MSG_DONTWAIT:
            return super().recv(most, flags)
        try:
            data = super().recv(most, flags)
        except BlockingIOError:
            self.looks.append("nothing")
            raise
        self.looks.append("something")
        return data


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Looked, socket.socket]]:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(NUM_CORES)))
    # No wait is long, however slow the machine is.
    monkeypatch.setattr(busy_wait, "LONGEST_S", 60.0)
    ours, theirs = socket.socketpair()
    with Looked(ours.detach()) as looked, theirs:
        yield looked, theirs


@pytest.fixture
def looks(pair: tuple[Looked, socket.socket], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was found; where it was nothing, the peer sends a byte."""
    monkeypatch.setattr(os, "sched_yield", lambda: pair[1].send(b"x"))
    return pair[0].looks


def short_wait(wait: BusyWait, peer: socket.socket) -> None:
    peer.send(b"a")
    assert wait.recv(1) == b"a"


def test_after_a_short_wait_the_next_is_spent_awake(pair, looks):
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    assert looks == []
    assert wait.recv(1) == b"x"
    assert looks == ["nothing", "something"]


def test_after_a_long_wait_the_next_is_slept_through(pair, looks, monkeypatch):
    wait = BusyWait(pair[0], num_procs=1)
    with monkeypatch.context() as slow:
        slow.setattr(busy_wait, "LONGEST_S", 0.0)
        short_wait(wait, pair[1])
    short_wait(wait, pair[1])
    assert looks == []
    # That one was short.
    short_wait(wait, pair[1])
    assert looks == ["something"]


def test_a_wait_that_turns_out_long_is_slept_through(pair, looks, monkeypatch):
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    clock = time.perf_counter
    with monkeypatch.context() as slow:

        def far() -> float:
            # The answer comes once nobody looks any more, and just after.
            pair[1].send(b"b")
            slow.setattr(time, "perf_counter", lambda: clock() + 61)
            return clock() + 61

        slow.setattr(os, "sched_yield", lambda: slow.setattr(time, "perf_counter", far))
        assert wait.recv(1) == b"b"
    assert looks == ["nothing"]
    # So is the one after it, however fast its answer.
    short_wait(wait, pair[1])
    assert looks == ["nothing"]


def test_without_a_core_for_everybody_all_waits_are_slept_through(pair, looks):
    wait = BusyWait(pair[0], num_procs=NUM_CORES)
    for _ in range(3):
        short_wait(wait, pair[1])
    assert looks == []


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
    pair, looks, monkeypatch
):
    monkeypatch.setattr(busy_wait, "PAUSE", 50)
    displace(monkeypatch, every=1)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    while not wait.pausing:
        assert wait.recv(1) == b"x"
    before = len(looks)
    assert 2 < before // 2 < LATELY
    for _ in range(50):
        assert wait.pausing
        short_wait(wait, pair[1])
    assert len(looks) == before
    # Displaced once more, it stays awake: the count has begun anew.
    for looked in (1, 2):
        short_wait(wait, pair[1])
        assert len(looks) == before + looked
    assert not wait.pausing


def test_who_is_displaced_now_and_then_stays_awake(pair, looks, monkeypatch):
    displace(monkeypatch, every=3)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    for _ in range(100):
        assert wait.recv(1) == b"x"
    assert looks.count("nothing") == 100


def test_the_end_of_the_stream_is_no_bytes(pair, monkeypatch):
    hang_up: Callable[[], None] = pair[1].close
    monkeypatch.setattr(os, "sched_yield", hang_up)
    wait = BusyWait(pair[0], num_procs=1)
    short_wait(wait, pair[1])
    assert wait.recv(1) == b""
