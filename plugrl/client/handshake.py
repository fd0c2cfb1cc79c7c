"""From a config to an open WebSocket: address, TLS, key, and what it means when that fails."""

import logging
import os
import re
import socket
import ssl
import time

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, InvalidURI
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import WebSocketURI, parse_uri

from plugrl.config.client import ClientConfig
from plugrl.config.server import API_KEY_VARIABLE
from plugrl.errors import ConnectionLostError, PlugRLError, UsageError
from plugrl.framing import HEAD_END

RECEIVE_BYTES = 2**16
"""Most bytes to take from the socket at once; with more, each call costs a fresh mapping of memory,
which takes ten times as long as the call."""

_RETRIED_STATUSES = {408, 429, 500, 502, 503, 504}
# Apart from websockets' own logger, whose debug lines hold every frame.
_frame_log = logging.getLogger("plugrl.client.frames")
_frame_log.setLevel(logging.WARNING)


def server_uri(config: ClientConfig) -> WebSocketURI:
    """Where the server is.

    Raises:
        UsageError: ``server_host`` is a malformed URL.
    """
    host = config.server_host
    url = host if "://" in host else f"ws://{_host_and_port(host, config.server_port)}/"
    try:
        return parse_uri(url)
    except (InvalidURI, ValueError) as error:
        raise UsageError(
            f"expected a host name, HOST:PORT or ws:// URL, got {host!r}: {error}"
        ) from error


def open_socket(uri: WebSocketURI, config: ClientConfig, deadline: float) -> socket.socket:
    """Connect, with TLS for wss.

    Args:
        uri: where to.
        config: which certificates to trust.
        deadline: when to give up, on the clock of ``time.monotonic``.

    Raises:
        ConnectionLostError: nobody there; try again later.
        UsageError: the server's certificate is not trusted.
    """
    context = _tls_context(config) if uri.secure else None
    try:
        sock = _connect(uri, deadline)
    except UnicodeError as error:
        raise UsageError(f"expected a host name, got {uri.host!r:.80}: {error}") from error
    except OSError as error:
        raise ConnectionLostError(f"no server at {_address(uri)}: {error}") from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock if context is None else _secured(sock, context, uri, deadline)


def shake_hands(
    sock: socket.socket, uri: WebSocketURI, config: ClientConfig, deadline: float
) -> tuple[ClientProtocol, bytes]:
    """Ask for a WebSocket; what came behind the answer's head is returned beside the protocol.

    Args:
        sock: what ``open_socket`` opened.
        uri: where that was.
        config: the key, and how long a message may be.
        deadline: when to give up, on the clock of ``time.monotonic``.

    Raises:
        ConnectionLostError: no answer, or not ready yet; try again later.
        UsageError: the key is refused, or that is no PlugRL server.
    """
    protocol = ClientProtocol(uri, max_size=config.max_message_bytes, logger=_frame_log)
    request = protocol.connect()
    key = config.api_key or os.environ.get(API_KEY_VARIABLE)
    if key:
        if not key.isprintable():
            raise UsageError(f"expected a key of printable characters, at {API_KEY_VARIABLE}")
        # Headers are encoded as ISO-8859-1: so the bytes on the wire are the key's UTF-8.
        request.headers["Authorization"] = f"Api-Key {key}".encode().decode("iso-8859-1")
    protocol.send_request(request)
    try:
        _wait_until(deadline, sock)
        sock.sendall(b"".join(protocol.data_to_send()))
        seen = rest = b""
        while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
            # Each time anew: the answer may come in any number of pieces.
            _wait_until(deadline, sock)
            data, rest = rest or sock.recv(RECEIVE_BYTES), b""
            if not data:
                protocol.receive_eof()
                continue
            if HEAD_END not in seen:
                # The head alone at first: behind it are frames, or the body of a refusal.
                end = (seen + data).find(HEAD_END)
                if end >= 0:
                    end += len(HEAD_END) - len(seen)
                    data, rest = data[:end], data[end:]
                seen += data
            protocol.receive_data(data)
    except OSError as error:
        raise ConnectionLostError(f"no handshake with {_address(uri)}: {error}") from error
    if protocol.handshake_exc is not None:
        raise _refusal(protocol.handshake_exc, _address(uri))
    return protocol, rest


def _host_and_port(host: str, port: int) -> str:
    """``host`` in the form of URLs, with a port: its own, or else ``port``."""
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"  # IPv6
    return host if re.search(r":[0-9]+$", host) else f"{host}:{port}"


def _connect(uri: WebSocketURI, deadline: float) -> socket.socket:
    """A socket connected to one of the addresses of the host, each with its share of the time."""
    error: OSError | None = None
    found = socket.getaddrinfo(uri.host, uri.port, type=socket.SOCK_STREAM)
    for num_tried, (family, kind, number, _, address) in enumerate(found):
        sock = socket.socket(family, kind, number)
        try:
            now = time.monotonic()
            _wait_until(now + (deadline - now) / (len(found) - num_tried), sock)
            sock.connect(address)
        except OSError as failure:
            sock.close()
            error = failure
        else:
            return sock
    assert error is not None, "getaddrinfo raises where there is no address"
    raise error


def _wait_until(deadline: float, sock: socket.socket) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left)


def _secured(
    sock: socket.socket, context: ssl.SSLContext, uri: WebSocketURI, deadline: float
) -> socket.socket:
    try:
        _wait_until(deadline, sock)
        return context.wrap_socket(sock, server_hostname=uri.host)
    except ssl.SSLCertVerificationError as error:
        sock.close()
        raise UsageError(
            f"can't trust the certificate of {_address(uri)}: {error.verify_message}; name the "
            "file to trust with --tls-ca"
        ) from error
    except OSError as error:
        sock.close()
        raise ConnectionLostError(f"no TLS with {_address(uri)}: {error}") from error


def _tls_context(config: ClientConfig) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=config.tls_ca)
    except OSError as error:
        raise UsageError(f"can't read certificates from {config.tls_ca}: {error}") from error


def _refusal(error: Exception, address: str) -> PlugRLError:
    if isinstance(error, InvalidStatus):
        return _refusal_by_status(error.response, address)
    cause = error.__cause__ or error
    return ConnectionLostError(f"no WebSocket server at {address}: {cause}")


def _refusal_by_status(response: Response, address: str) -> PlugRLError:
    status = response.status_code
    if status in {401, 403}:
        return UsageError(
            f"the server at {address} refused the key (HTTP {status}); pass the right one with "
            f"--api-key, or set {API_KEY_VARIABLE}"
        )
    if status in _RETRIED_STATUSES:
        return ConnectionLostError(f"{address} is not ready (HTTP {status})")
    return UsageError(
        f"expected a PlugRL server at {address}, got HTTP {status}; check --server-host and "
        "--server-port"
    )


def _address(uri: WebSocketURI) -> str:
    return f"{uri.host}:{uri.port}"
