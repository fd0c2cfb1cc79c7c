"""A blocking WebSocket connection: websockets' sans-I/O protocol over a plain socket.

``websockets.sync`` reads in a second thread, and each message costs two thread switches; here the
caller's own thread reads. A small thread answers pings while the caller is away from the socket.
"""

import contextlib
import socket
import ssl
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Self

from websockets.frames import Frame, Opcode
from websockets.protocol import State

from plugrl.client import busy_wait
from plugrl.client.busy_wait import BusyWait
from plugrl.client.handshake import RECEIVE_BYTES, open_socket, server_uri, shake_hands
from plugrl.client.interrupts import Interruptible, Uninterrupted
from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, ProtocolError, ServerResyncError, ServerStoppedError
from plugrl.framing import Lane, binary_frame
from plugrl.protocol.closing import FINISHED, RESYNC, SERVER_STOP, Closing

_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
"""Flag of a send that must not wait; Windows has none."""
SEND_BYTES = 2**18
"""Most bytes that a send waits for."""
PONG_INTERVAL_S = 5.0
"""How often pings are answered while the caller is away; servers allow 20 s and more."""
BROKEN_BY_SERVER = Closing(1002, "")
"""The server broke the protocol."""
BROKEN_BY_CLIENT = Closing(1011, "")
"""The env or the client failed."""


class Connection:
    """One open WebSocket connection; for use by one thread.

    A stop by signal is raised while it waits, never with half a frame parsed: there is a way to
    close in good order. With half a frame sent, which the server takes no more of, there is none:
    nothing can follow it, and the connection is dropped.
    """

    def __init__(self, config: ClientConfig) -> None:
        """Connect and shake hands.

        Raises:
            ConnectionLostError: no server there, or not ready yet; try again later.
            UsageError: the URL is none, the key is refused, or that is no PlugRL server.
        """
        uri = server_uri(config)
        self.address = f"{uri.host}:{uri.port}"
        self._config = config
        self._messages: deque[bytes] = deque()
        self._fragments: list[bytes] = []
        self._text_frame_came = False
        self._sending = False
        """Also from then on when a frame was cut off."""
        self._close_by: float | None = None
        """When the closing handshake, once it has begun, has taken long enough."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        deadline = time.monotonic() + config.connect_timeout_s
        self._socket = open_socket(uri, config, deadline)
        self._at_once = 0 if isinstance(self._socket, ssl.SSLSocket) else _AT_ONCE
        busy = busy_wait.AVAILABLE and self._at_once
        self._source = BusyWait(self._socket, config.num_procs) if busy else self._socket
        try:
            self._protocol, rest = shake_hands(self._socket, uri, config, deadline)
        except BaseException:
            self._socket.close()
            raise
        self._lane = Lane(from_client=False)
        self._take(rest)
        # Pongs, where pings came along with the answer; an error meets the next call too.
        with contextlib.suppress(OSError):
            self._flush()
        self._wait_at_most(config.receive_timeout_s)
        threading.Thread(target=self._answer_pings, name="plugrl-pong", daemon=True).start()

    def send(self, *messages: bytes) -> None:
        """Send binary messages, in one write.

        Raises:
            ConnectionLostError: the connection is gone.
            ServerStoppedError: because the server ended the run.
        """
        with self._lock, Uninterrupted():
            self._check_open()
            try:
                self._flush([binary_frame(message, from_client=True) for message in messages])
            except OSError as error:
                # What the server sent last may say why.
                self._read_to_end()
                raise self._loss(self._reason(error, "nothing was taken")) from error

    def receive(self) -> bytes:
        """Wait for the next binary message.

        Raises:
            ConnectionLostError: the connection is gone, or silent for too long.
            ServerStoppedError: the server ended the run.
            ProtocolError: a text frame came; nothing may be sent any more.
        """
        with self._lock, Uninterrupted():
            while not self._messages:
                self._check_open()
                try:
                    self._read(self._source)
                except OSError as error:
                    raise self._loss(self._reason(error, "nothing came")) from error
            self._refuse_text()
            return self._messages.popleft()

    @property
    def has_unread(self) -> bool:
        """Whether a message has come that was not received yet."""
        return bool(self._messages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None or not issubclass(kind, Exception):
            self.close()
        else:
            self.close(BROKEN_BY_SERVER if issubclass(kind, ProtocolError) else BROKEN_BY_CLIENT)

    def close(self, closing: Closing = FINISHED) -> None:
        """Send a close frame, wait for the server's within limits, and let go of the socket."""
        self._ended.set()
        with self._lock, Uninterrupted():
            # A close frame inside a message that was cut off would be read as its bytes.
            if not self._sending:
                if self._protocol.state is State.OPEN:
                    self._protocol.send_close(*closing)
                self._read_to_end()
            self._socket.close()

    def _wait_at_most(self, timeout_s: float) -> None:
        """How long a call on the socket may wait."""
        # To a socket, 0 is no timeout, or no waiting at all.
        timeout_s = max(timeout_s, 1e-3)
        if isinstance(self._socket, ssl.SSLSocket) or sys.platform == "win32":
            self._socket.settimeout(timeout_s)
            return
        # The kernel's own timeout: with Python's, each call asks first whether it would have to
        # wait, which costs a system call more.
        self._socket.settimeout(None)
        seconds = int(timeout_s)
        timeval = struct.pack("@ll", seconds, int((timeout_s - seconds) * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, timeval)

    def _flush(self, frames: Sequence[bytes] = ()) -> None:
        """Send what the library has to send, then these."""
        if self._sending:
            raise ConnectionError("a frame to it was cut off")
        self._sending = True
        data = self._protocol.data_to_send() if self._protocol.writes else []
        data += frames
        if data:
            self._send_all(b"".join(data))
            if not data[-1]:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_WR)
        self._sending = False

    def _send_all(self, data: bytes) -> None:
        sent = 0
        if self._at_once:
            try:
                sent = self._socket.send(data, self._at_once)
            except BlockingIOError:
                sent = 0
        if sent < len(data):
            self._send_rest(data, sent)

    def _send_rest(self, data: bytes, sent: int) -> None:
        """Wait until the server takes what could not be sent at once; a stop ends it."""
        rest = memoryview(data)[sent:]
        try:
            with Interruptible():
                # In pieces, so that the wait for each bounds a send that makes no progress.
                while rest:
                    rest = rest[self._socket.send(rest[:SEND_BYTES]) :]
        except OSError:
            self._sending = len(rest) < len(data)
            raise

    def _read(self, source: BusyWait | socket.socket) -> None:
        """Take what ``source`` has, waiting for at least something; answer pings."""
        with Interruptible():
            data = source.recv(RECEIVE_BYTES)
        if data:
            self._take(data)
        else:
            self._protocol.receive_eof()
        if self._protocol.writes:
            self._flush()

    def _take(self, data: bytes) -> None:
        for cut in self._lane.cut(data, self._config.max_message_bytes):
            if not cut.is_message:
                self._protocol.receive_data(cut.data)
                self._take_events()
            elif self._protocol.state is State.OPEN:
                self._messages.append(cut.data)

    def _take_events(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take_frame(event)

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.TEXT:
            self._text_frame_came = True
        elif frame.opcode in {Opcode.BINARY, Opcode.CONT}:
            self._fragments.append(bytes(frame.data))
            if frame.fin:
                self._messages.append(b"".join(self._fragments))
                self._fragments.clear()

    def _check_open(self) -> None:
        self._refuse_text()
        if self._protocol.state is State.OPEN:
            return
        self._read_to_end()
        broken = self._protocol.parser_exc
        if broken is not None and not isinstance(broken, EOFError):
            raise ProtocolError(f"{self.address} sent no legal WebSocket frame: {broken}")
        raise self._loss("it closed")

    def _refuse_text(self) -> None:
        if self._text_frame_came:
            raise ProtocolError(f"expected binary frames, got a text frame from {self.address}")

    def _read_to_end(self) -> None:
        """Finish the closing handshake, or give up on it: one limit holds for all calls."""
        if self._close_by is None:
            self._close_by = time.monotonic() + self._config.close_timeout_s
        # StopIteration: a KeyboardInterrupt hit the parser, which then has no state to go on from.
        with contextlib.suppress(OSError, StopIteration):
            self._wait_at_most(self._close_by - time.monotonic())
            if not self._sending:
                self._flush()
            while (left := self._close_by - time.monotonic()) > 0:
                if self._protocol.state is State.CLOSED:
                    break
                self._wait_at_most(left)
                self._read(self._socket)
                self._messages.clear()

    def _reason(self, error: OSError, silence: str) -> str:
        if isinstance(error, TimeoutError | BlockingIOError):
            return f"{silence} for {self._config.receive_timeout_s:g} s"
        return str(error)

    def _loss(self, why: str) -> ConnectionLostError:
        close = self._protocol.close_rcvd
        if close is None:
            return ConnectionLostError(f"lost the server at {self.address}: {why}")
        if close.reason == SERVER_STOP.reason:
            return ServerStoppedError(f"the server at {self.address} has ended the run")
        said = f"{close.code} {close.reason}".rstrip()
        kind = ServerResyncError if close.reason == RESYNC.reason else ConnectionLostError
        return kind(f"the server at {self.address} closed the connection ({said})")

    def _answer_pings(self) -> None:
        while not self._ended.wait(PONG_INTERVAL_S):
            # While the caller is sending or receiving it holds the lock and answers by itself.
            if self._lock.acquire(blocking=False):
                try:
                    self._read_what_is_there()
                finally:
                    self._lock.release()

    def _read_what_is_there(self) -> None:
        try:
            self._socket.settimeout(0)
            # One message at most is due; a server that sends more is held back by TCP.
            while self._protocol.state is State.OPEN and len(self._messages) <= 1:
                self._read(self._socket)
        except OSError:
            # Nothing more to read now; or an error, which the caller's next call meets too.
            return
        finally:
            with contextlib.suppress(OSError):
                self._wait_at_most(self._config.receive_timeout_s)
