import contextlib
import os
import signal
import socket
import threading
import time

import pytest

from plugrl import framing
from plugrl.client import busy_wait
from plugrl.client import connection as connection_module
from plugrl.client.busy_wait import BusyWait
from plugrl.client.connection import BROKEN_BY_SERVER, Connection
from plugrl.client.interrupts import StopRequestedError, stop_on_signals
from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, ProtocolError, ServerResyncError, ServerStoppedError
from tests.client.conftest import DeafServer

LARGE = b"x" * 12_000_000
"""More than a connection holds while nobody reads."""


async def echo(ws):
    async for message in ws:
        await ws.send(message)


@contextlib.contextmanager
def connected(thread, **fields):
    config = ClientConfig(server_port=thread.port, **fields)
    with Connection(config) as connection:
        yield connection


def test_messages_go_out_together_and_come_back_in_order(serving):
    with connected(serving(echo)) as connection:
        connection.send(b"one", b"two")
        assert [connection.receive(), connection.receive()] == [b"one", b"two"]


@pytest.mark.parametrize("size", [0, 125, 126, 65536, 5_000_000])
def test_a_message_of_any_size_passes_both_ways(serving, size):
    with connected(serving(echo, max_size=None)) as connection:
        connection.send(b"x" * size)
        assert connection.receive() == b"x" * size


def test_a_fragmented_message_is_put_together(serving):
    async def handler(ws):
        await ws.send([b"frag", b"men", b"ted"])
        await ws.send(b"whole")
        await ws.wait_closed()

    with connected(serving(handler)) as connection:
        assert [connection.receive(), connection.receive()] == [b"fragmented", b"whole"]


def test_the_end_is_a_closing_handshake_with_code_1000(serving):
    thread = serving(echo)
    with connected(thread) as connection:
        connection.send(b"x")
        connection.receive()
    assert thread.wait_for_closes() == [(1000, "")]


def test_an_error_of_the_client_is_told_by_another_code(serving):
    thread = serving(echo)
    with pytest.raises(ZeroDivisionError), connected(thread):
        raise ZeroDivisionError
    assert thread.wait_for_closes()[0][0] == 1011


def test_the_stop_of_the_server_is_told_from_other_closes(serving):
    for code, reason, error in (
        (1001, "plugrl-server-stop", ServerStoppedError),
        (1001, "plugrl-server-resync", ServerResyncError),
        (1001, "Feedback timeout", ConnectionLostError),
        (1011, "Internal server error.", ConnectionLostError),
        (1000, "", ConnectionLostError),
    ):

        async def handler(ws, code=code, reason=reason):
            await ws.close(code, reason)

        with connected(serving(handler)) as connection, pytest.raises(ConnectionLostError) as info:
            connection.receive()
        assert type(info.value) is error
        if error is ConnectionLostError:
            assert f"closed the connection ({code} {reason}".rstrip() in str(info.value)


def test_a_stop_is_noticed_when_sending_too(serving):
    async def handler(ws):
        await ws.close(1001, "plugrl-server-stop")

    thread = serving(handler)
    with connected(thread) as connection:
        thread.wait_for_closes()
        with pytest.raises(ServerStoppedError):  # noqa: PT012 -- the kernel may take some yet
            for _ in range(1000):
                connection.send(b"x" * 65536)


def test_messages_before_a_close_are_still_received(serving):
    async def handler(ws):
        await ws.send(b"last words")
        await ws.close(1001, "plugrl-server-stop")

    with connected(serving(handler)) as connection:
        assert connection.receive() == b"last words"
        with pytest.raises(ServerStoppedError):
            connection.receive()


def test_a_peer_that_vanishes_is_a_lost_connection(serving):
    async def handler(ws):
        ws.transport.abort()

    with (
        connected(serving(handler)) as connection,
        pytest.raises(ConnectionLostError, match="lost"),
    ):
        connection.receive()


def test_a_silent_server_is_given_up_after_the_receive_timeout(serving):
    async def handler(ws):
        await ws.wait_closed()

    with (
        connected(serving(handler), receive_timeout_s=0.1) as connection,
        pytest.raises(ConnectionLostError, match=r"nothing came for 0.1 s"),
    ):
        connection.receive()


def test_a_text_frame_is_fatal_and_nothing_is_sent_after_it(serving):
    received = []

    async def handler(ws):
        await ws.send("hello")
        received.extend([message async for message in ws])

    thread = serving(handler)
    connection = Connection(ClientConfig(server_port=thread.port))
    for attempt in (connection.receive, lambda: connection.send(b"more"), connection.receive):
        with pytest.raises(ProtocolError, match="expected binary frames, got a text frame"):
            attempt()
    connection.close(BROKEN_BY_SERVER)
    assert thread.wait_for_closes()[0][0] == 1002
    assert received == []


def test_a_message_above_the_limit_breaks_the_protocol(serving):
    async def handler(ws):
        await ws.send(b"x" * 1001)
        await ws.wait_closed()

    thread = serving(handler)
    with (
        connected(thread, max_message_bytes=1000) as connection,
        pytest.raises(ProtocolError, match=r"sent no legal WebSocket frame.*1001"),
    ):
        connection.receive()


def test_pings_are_answered_while_the_caller_is_away(serving, monkeypatch):
    monkeypatch.setattr(connection_module, "PONG_INTERVAL_S", 0.02)
    answered = threading.Event()

    async def handler(ws):
        await (await ws.ping())
        answered.set()
        await ws.send(b"after the pong")

    with connected(serving(handler)) as connection:
        assert answered.wait(10)
        assert connection.receive() == b"after the pong"


def test_a_message_that_came_while_the_caller_was_away_is_kept(serving, monkeypatch):
    monkeypatch.setattr(connection_module, "PONG_INTERVAL_S", 0.02)
    answered = threading.Event()

    async def handler(ws):
        await ws.send(b"early")
        await (await ws.ping())
        answered.set()
        await ws.close(1001, "plugrl-server-stop")

    with connected(serving(handler)) as connection:
        assert answered.wait(10)
        assert connection.receive() == b"early"
        with pytest.raises(ServerStoppedError):
            connection.receive()


def test_a_flood_while_the_caller_is_away_is_neither_lost_nor_taken_in(serving, monkeypatch):
    monkeypatch.setattr(connection_module, "PONG_INTERVAL_S", 0.02)
    flowing = threading.Event()

    async def handler(ws):
        for number in range(400):
            await ws.send(number.to_bytes(4, "big") + b"x" * 100_000)
            flowing.set()
        await ws.wait_closed()

    with connected(serving(handler)) as connection:
        assert flowing.wait(10)
        for number in range(400):
            assert connection.receive()[:4] == number.to_bytes(4, "big")
            assert len(connection._messages) <= 2


def test_a_server_that_takes_nothing_is_given_up_after_the_receive_timeout(serving):
    with connected(serving(DeafServer()), receive_timeout_s=0.1, close_timeout_s=0.1) as connection:
        with pytest.raises(ConnectionLostError, match=r"nothing was taken for 0.1 s"):
            connection.send(LARGE)
        with pytest.raises(ConnectionLostError, match="a frame to it was cut off"):
            connection.send(b"in the middle of that frame")


def test_a_stop_ends_a_send_that_has_to_wait_and_drops_the_connection(serving):
    server = DeafServer()
    stopping = threading.Thread(target=server.stop_client)
    with pytest.raises(StopRequestedError), stop_on_signals():  # noqa: PT012
        with connected(serving(server), receive_timeout_s=20, close_timeout_s=20) as connection:
            stopping.start()
            started = time.monotonic()
            connection.send(LARGE)
    assert time.monotonic() - started < 10
    stopping.join()


def test_a_stop_in_a_send_that_need_not_wait_comes_after_it(serving, monkeypatch):
    thread = serving(echo)
    with pytest.raises(StopRequestedError), stop_on_signals():  # noqa: PT012
        with connected(thread) as connection:
            frame = framing.binary_frame

            def stopped(*args, **kwargs):
                os.kill(os.getpid(), signal.SIGTERM)
                return frame(*args, **kwargs)

            monkeypatch.setattr(connection_module, "binary_frame", stopped)
            connection.send(b"x")
    assert thread.wait_for_closes() == [(1000, "")]


def test_a_server_that_closes_and_leaves_tcp_open_is_left_after_one_close_timeout(serving):
    started = time.monotonic()
    with (
        connected(serving(DeafServer(b"\x88\x02\x03\xe9")), close_timeout_s=1.0) as connection,
        pytest.raises(ConnectionLostError, match=r"closed the connection \(1001\)"),
    ):
        connection.receive()
    assert 1.0 <= time.monotonic() - started < 1.9


def test_a_server_that_takes_no_close_frame_is_left_too(serving):
    with connected(serving(DeafServer()), receive_timeout_s=20, close_timeout_s=0.2) as connection:
        with contextlib.suppress(BlockingIOError):
            while True:
                connection._socket.send(LARGE, socket.MSG_DONTWAIT)
        started = time.monotonic()
    assert time.monotonic() - started < 10


def test_a_caller_waits_awake_and_who_answers_pings_for_it_does_not(serving, monkeypatch):
    made = []

    class Spy(BusyWait):
        def __init__(self, sock, num_procs):
            super().__init__(sock, num_procs)
            made.append(num_procs)
            self.threads = []

        def recv(self, most):
            self.threads.append(threading.current_thread())
            return super().recv(most)

    monkeypatch.setattr(connection_module, "BusyWait", Spy)
    monkeypatch.setattr(busy_wait, "AVAILABLE", True)
    monkeypatch.setattr(connection_module, "PONG_INTERVAL_S", 0.02)
    answered = threading.Event()

    async def handler(ws):
        await (await ws.ping())
        answered.set()
        await ws.send(b"a message")

    with connected(serving(handler), num_procs=3) as connection:
        assert answered.wait(10)
        assert connection.receive() == b"a message"
        assert made == [3]
        assert set(connection._source.threads) <= {threading.current_thread()}
