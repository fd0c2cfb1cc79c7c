import contextlib
import select
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from plugrl.client import connection as connection_module
from plugrl.client.connection import Connection
from plugrl.client.handshake import server_uri
from plugrl.client.interrupts import StopRequestedError, stop_on_signals
from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, UsageError
from tests.client.conftest import DeafServer


async def echo(ws):
    async for message in ws:
        await ws.send(message)


def closed_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture
def tcp_server():
    """Starts a TCP server that talks to one client as told; returns its port."""
    listeners, threads = [], []

    def start(talk):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run():
            with contextlib.suppress(OSError):
                conn, _ = listener.accept()
                with conn:
                    talk(conn)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return listener.getsockname()[1]

    yield start
    for listener in listeners:
        listener.close()
    for thread in threads:
        thread.join()


@pytest.fixture
def raw_server(tcp_server):
    """A TCP server that answers with fixed bytes, then waits for the client's end."""

    def start(answer):
        def talk(conn):
            conn.recv(65536)
            conn.sendall(answer)
            if answer:
                conn.shutdown(socket.SHUT_WR)
            while conn.recv(65536):
                pass

        return tcp_server(talk)

    return start


def test_neither_compression_nor_a_key_is_offered_unless_there_is_one(serving, monkeypatch):
    seen = []

    async def handler(ws):
        seen.append(dict(ws.request.headers.raw_items()))

    monkeypatch.delenv("PLUGRL_API_KEY", raising=False)
    thread = serving(handler, compression="deflate")
    for key, variable in ((None, ""), ("k1", "k2"), (None, "k2")):
        monkeypatch.setenv("PLUGRL_API_KEY", variable)
        Connection(ClientConfig(server_port=thread.port, api_key=key)).close()
    assert [headers.get("Authorization") for headers in seen] == [None, "Api-Key k1", "Api-Key k2"]
    assert not any("Sec-WebSocket-Extensions" in headers for headers in seen)


def test_a_key_with_a_line_break_is_refused_without_being_shown(serving):
    config = ClientConfig(server_port=serving(echo).port, api_key="secret\n")
    with pytest.raises(UsageError, match="expected a key of printable characters") as info:
        Connection(config)
    assert "secret" not in str(info.value)


def test_a_host_that_no_name_server_could_know_is_refused():
    with pytest.raises(UsageError, match=r"expected a host name, got 'x\.\.y'"):
        Connection(ClientConfig(server_host="x..y"))


def test_nobody_listening_is_a_lost_connection():
    config = ClientConfig(server_port=closed_port())
    with pytest.raises(ConnectionLostError, match=r"no server at 127.0.0.1:\d+: .*refused"):
        Connection(config)


def test_a_server_that_never_shakes_hands_is_given_up(raw_server):
    config = ClientConfig(server_port=raw_server(b""), connect_timeout_s=0.1)
    with pytest.raises(ConnectionLostError, match="timed out"):
        Connection(config)


@pytest.fixture
def dripping_server(tcp_server):
    """A TCP server that sends a first answer, and then a byte for as long as it is connected."""

    def start(answer, byte):
        def talk(conn):
            conn.sendall(answer)
            # An end in case of a client that stays: select returns once it is gone.
            for _ in range(400):
                conn.sendall(byte)
                if select.select([conn], [], [], 0.05)[0] and not conn.recv(65536):
                    break

        return tcp_server(talk)

    return start


@pytest.mark.parametrize(
    ("scheme", "answer", "byte"),
    [("ws", b"HTTP/1.1 101 X\r\n", b"X: y\r\n"), ("wss", b"\x16\x03\x03\x10\x00", b"\x02")],
)
def test_the_limit_of_a_connection_attempt_is_for_all_its_bytes(
    dripping_server, scheme, answer, byte
):
    url = f"{scheme}://127.0.0.1:{dripping_server(answer, byte)}"
    started = time.monotonic()
    with pytest.raises(ConnectionLostError, match="timed out"):
        Connection(ClientConfig(server_host=url, connect_timeout_s=0.3))
    assert time.monotonic() - started < 5


def test_where_a_host_has_several_addresses_each_is_tried(serving, monkeypatch):
    thread = serving(echo)
    kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
    ports = [closed_port(), thread.port]
    found = [(*kind, ("127.0.0.1", port)) for port in ports]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
    Connection(ClientConfig(server_host="two.example")).close()
    assert thread.wait_for_closes() == [(1000, "")]


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
        ("localhost:9000", ("localhost", 9000, False)),
        ("::1", ("::1", 8000, False)),
        ("[::1]", ("::1", 8000, False)),
        ("[::1]:9000", ("::1", 9000, False)),
        ("ws://far:9000", ("far", 9000, False)),
        ("wss://far.example/", ("far.example", 443, True)),
    ],
)
def test_the_host_is_a_name_an_address_or_a_url(host, where):
    uri = server_uri(ClientConfig(server_host=host))
    assert (uri.host, uri.port, uri.secure) == where


@pytest.mark.parametrize(
    "host",
    ["http://x", "x:", "x:port", "x:70000", "x:-1", ":8000", "[::1", "[::1]:x", ""],
)
def test_a_malformed_address_is_refused(host):
    with pytest.raises(UsageError) as info:
        server_uri(ClientConfig(server_host=host))
    assert f"expected a host name, HOST:PORT or ws:// URL, got {host!r}" in str(info.value)


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


def test_a_stop_ends_a_send_over_wss_too(serving, server_tls):
    server = DeafServer()
    thread = serving(server, ssl=server_tls)
    url = f"wss://localhost:{thread.port}"
    config = ClientConfig(server_host=url, tls_ca=CERTIFICATE, receive_timeout_s=20)
    stopping = threading.Thread(target=server.stop_client)
    with pytest.raises(StopRequestedError), stop_on_signals():  # noqa: PT012
        with Connection(config) as connection:
            stopping.start()
            started = time.monotonic()
            connection.send(b"x" * 12_000_000)
    assert time.monotonic() - started < 10
    stopping.join()


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
