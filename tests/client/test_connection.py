import contextlib
import socket
import ssl
import threading
from pathlib import Path

import pytest

from plugrl.client import connection as connection_module
from plugrl.client.connection import BROKEN_BY_SERVER, Connection, server_uri
from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, ProtocolError, ServerStoppedError, UsageError


async def echo(ws):
    async for message in ws:
        await ws.send(message)


@contextlib.contextmanager
def connected(thread, **fields):
    config = ClientConfig(server_port=thread.port, **fields)
    with Connection(config) as connection:
        yield connection


def closed_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture
def raw_server():
    """A TCP server that answers each connection with fixed bytes, then waits for its end."""
    listeners, threads = [], []

    def start(answer):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run():
            with contextlib.suppress(OSError):
                conn, _ = listener.accept()
                with conn:
                    conn.recv(65536)
                    conn.sendall(answer)
                    if answer:
                        conn.shutdown(socket.SHUT_WR)
                    while conn.recv(65536):
                        pass

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return listener.getsockname()[1]

    yield start
    for listener in listeners:
        listener.close()
    for thread in threads:
        thread.join()


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


def test_neither_compression_nor_a_key_is_offered_unless_there_is_one(serving, monkeypatch):
    seen = []

    async def handler(ws):
        seen.append(dict(ws.request.headers.raw_items()))

    monkeypatch.delenv("PLUGRL_API_KEY", raising=False)
    thread = serving(handler, compression="deflate")
    for fields, variable in (({}, ""), ({"api_key": "k1"}, "k2"), ({}, "k2")):
        monkeypatch.setenv("PLUGRL_API_KEY", variable)
        with connected(thread, **fields) as connection, pytest.raises(ConnectionLostError):
            connection.receive()
    assert [headers.get("Authorization") for headers in seen] == [None, "Api-Key k1", "Api-Key k2"]
    assert not any("Sec-WebSocket-Extensions" in headers for headers in seen)


def test_the_stop_of_the_server_is_told_from_other_closes(serving):
    for code, reason, error in (
        (1001, "plugrl-server-stop", ServerStoppedError),
        (1001, "plugrl-server-resync", ConnectionLostError),
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


def test_nobody_listening_is_a_lost_connection():
    config = ClientConfig(server_port=closed_port())
    with pytest.raises(ConnectionLostError, match=r"no server at 127.0.0.1:\d+: .*refused"):
        Connection(config)


def test_a_server_that_never_shakes_hands_is_given_up(raw_server):
    config = ClientConfig(server_port=raw_server(b""), connect_timeout_s=0.1)
    with pytest.raises(ConnectionLostError, match="timed out"):
        Connection(config)


def http(status, headers=""):
    return f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n{headers}\r\n".encode()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_sentence_that_says_where_to_set_it(raw_server, status):
    config = ClientConfig(server_port=raw_server(http(status)))
    with pytest.raises(UsageError, match=rf"refused the key \(HTTP {status}\); .*--api-key"):
        Connection(config)


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_not_ready_is_a_lost_connection(raw_server, status):
    config = ClientConfig(server_port=raw_server(http(status)))
    with pytest.raises(ConnectionLostError, match=rf"not ready \(HTTP {status}\)"):
        Connection(config)


def test_another_http_server_is_told_from_ours(raw_server):
    config = ClientConfig(server_port=raw_server(http(404)))
    with pytest.raises(UsageError, match=r"expected a PlugRL server at .*, got HTTP 404"):
        Connection(config)


def test_what_speaks_no_http_is_no_server(raw_server):
    config = ClientConfig(server_port=raw_server(b"SSH-2.0-OpenSSH_9\r\n"))
    with pytest.raises(ConnectionLostError, match="no WebSocket server at"):
        Connection(config)


@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("localhost", ("localhost", 8000, False)),
        ("::1", ("::1", 8000, False)),
        ("ws://far:9000", ("far", 9000, False)),
        ("wss://far.example/", ("far.example", 443, True)),
    ],
)
def test_the_host_is_a_name_an_address_or_a_url(host, where):
    uri = server_uri(ClientConfig(server_host=host))
    assert (uri.host, uri.port, uri.secure) == where


def test_a_malformed_url_is_refused():
    with pytest.raises(UsageError, match="expected a host name or ws:// URL, got 'http://x'"):
        server_uri(ClientConfig(server_host="http://x"))


# A key and a self-signed certificate for localhost, made for these tests, good for a hundred years:
# openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500
#     -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1
CERTIFICATE = Path(__file__).with_name("localhost.pem")


@pytest.fixture
def server_tls():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_wss_works_with_a_certificate_that_is_trusted(serving, server_tls, monkeypatch):
    monkeypatch.setattr(connection_module, "PONG_INTERVAL_S", 0.02)
    thread = serving(echo, ssl=server_tls, max_size=None)
    config = ClientConfig(server_host=f"wss://localhost:{thread.port}", tls_ca=CERTIFICATE)
    with Connection(config) as connection:
        connection.send(b"x" * 1_000_000)
        assert len(connection.receive()) == 1_000_000
    assert thread.wait_for_closes() == [(1000, "")]


def test_a_certificate_that_is_not_trusted_is_refused_with_the_remedy(serving, server_tls):
    thread = serving(echo, ssl=server_tls)
    config = ClientConfig(server_host=f"wss://localhost:{thread.port}")
    with pytest.raises(UsageError, match=r"can't trust the certificate .*--tls-ca"):
        Connection(config)


def test_a_server_without_tls_is_a_lost_connection(serving):
    config = ClientConfig(server_host=f"wss://localhost:{serving(echo).port}")
    with pytest.raises(ConnectionLostError, match="no TLS with localhost"):
        Connection(config)


def test_a_missing_file_of_certificates_is_named(tmp_path):
    config = ClientConfig(server_host="wss://localhost:1", tls_ca=tmp_path / "none.pem")
    with pytest.raises(UsageError, match=r"can't read certificates from .*none.pem"):
        Connection(config)
