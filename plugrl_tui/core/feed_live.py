"""A run over its server's ``/monitor``: reconnects by itself, and says why it has to."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from plugrl.protocol.closing import SERVER_STOP
from plugrl_tui.core.feed import Access, FeedError
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.snapshot import Reply, SnapshotError, parse

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

OPEN_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 20.0
"""A server that says nothing for so long is connected to anew."""
MAX_SNAPSHOT_BYTES = 2**25
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0
REFUSED_PAUSE_S = 30.0


class _Refused(Exception):  # noqa: N818 - it never leaves this file
    """The server answers, but not to us, or we can't talk to it."""


class LiveFeed:
    """One server's stream of snapshots."""

    def __init__(self, url: str, access: Access | None = None) -> None:
        """Look at the server at ``url``, such as ``ws://127.0.0.1:8000``."""
        self.url = url
        self._access = access or Access()
        self._socket: ClientConnection | None = None
        self._wake = asyncio.Event()

    async def run(self, model: RunModel) -> None:
        """Feed ``model`` until the server says that the run is over, or until cancelled."""
        model.url = self.url
        pause_s = FIRST_PAUSE_S
        while True:
            if model.received_at is None and model.link is Link.NONE:
                model.set_link(Link.CONNECTING)
            try:
                if await self._follow(model):
                    return
                pause_s, link, reason = FIRST_PAUSE_S, Link.RECONNECTING, "the connection broke"
            except (_Refused, SnapshotError) as error:
                pause_s, link, reason = REFUSED_PAUSE_S, Link.REFUSED, str(error)
            except (OSError, TimeoutError) as error:
                link, reason = Link.RECONNECTING, _why(error, self.url)
            model.set_link(link, reason, retry_at=model.clock() + pause_s)
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def send(self, command: str) -> None:
        """Send a command.

        Raises:
            FeedError: there is no connection.
        """
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            raise FeedError(f"expected a connection to {self.url}, there is none now")
        try:
            await self._socket.send(json.dumps({"command": command}))
        except ConnectionClosed as error:
            raise FeedError(f"the connection to {self.url} has just closed") from error

    def retry_now(self) -> None:
        """Do not wait any longer."""
        self._wake.set()

    async def _pause(self, seconds: float) -> None:
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def _follow(self, model: RunModel) -> bool:
        """Take snapshots until the connection ends; True where the server says it was the last."""
        from websockets.exceptions import ConnectionClosed

        async with self._connected() as socket:
            try:
                while True:
                    async with asyncio.timeout(SILENCE_TIMEOUT_S):
                        text = await socket.recv()
                    _take(model, text)
            except ConnectionClosed as closed:
                received = closed.rcvd
                if received is not None and received.reason == SERVER_STOP.reason:
                    model.set_link(Link.ENDED)
                    return True
        return False

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator["ClientConnection"]:
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake, InvalidStatus

        key = self._access.api_key
        try:
            async with connect(
                f"{self.url}/monitor",
                additional_headers={"Authorization": f"Api-Key {key}"} if key else None,
                open_timeout=OPEN_TIMEOUT_S,
                close_timeout=1,
                max_size=MAX_SNAPSHOT_BYTES,
                compression=None,
                proxy=None,
                ssl=self._tls(),
            ) as socket:
                self._socket = socket
                yield socket
        except InvalidStatus as error:
            raise _Refused(_refusal(error.response.status_code, self.url, key)) from error
        except InvalidHandshake as error:
            raise _Refused(f"expected a PlugRL server at {self.url}, got {error}") from error
        finally:
            self._socket = None

    def _tls(self) -> ssl.SSLContext | None:
        if not self.url.startswith("wss:"):
            return None
        trusted = self._access.tls_ca
        try:
            return ssl.create_default_context(cafile=trusted)
        except OSError as error:
            raise _Refused(f"expected a certificate to trust, got {error}, at {trusted}") from error


def _take(model: RunModel, text: str | bytes) -> None:
    message = parse(text)
    if isinstance(message, Reply):
        model.notice = message.error or f"{message.accepted}: accepted"
    else:
        model.take_snapshot(message)


def _refusal(status: int, url: str, key: str | None) -> str:
    if status == 401 and key:
        return f"{url} does not take this key; it is the one that its server printed or was given"
    if status == 401:
        return f"{url} wants its key: set PLUGRL_API_KEY, or attach with the key"
    if status == 404:
        return f"the server at {url} has no /monitor; is it a PlugRL server?"
    if status == 503:
        return f"{url} has as many viewers as it allows"
    return f"{url} answered with status {status}"


def _why(error: Exception, url: str) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens at {url}"
    if isinstance(error, TimeoutError):
        return f"{url} does not answer"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {url} is not trusted: {error.verify_message}; see --tls-ca"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{url} can't be reached: {text}"
