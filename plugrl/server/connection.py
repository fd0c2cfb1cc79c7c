"""An env client over WebSocket: a thin shell between the socket, the session and the loop."""

import asyncio
import logging

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed

from plugrl.errors import ProtocolError
from plugrl.protocol.closing import RESYNC, Closing
from plugrl.protocol.messages import Array, Infer, Metadata
from plugrl.protocol.session import ServerSession
from plugrl.server.loop import Loop
from plugrl.server.worker import Worker

logger = logging.getLogger(__name__)


class Connection(Worker):
    """A worker at the other end of a WebSocket."""

    def __init__(self, socket: ServerConnection, session: ServerSession, loop: Loop) -> None:
        """Join ``loop`` with a socket whose handshake is done."""
        super().__init__(_address(socket), loop.new_place())
        self._socket = socket
        self._session = session
        self._loop = loop
        self._closing: asyncio.Task[None] | None = None

    def send(self, actions: Array) -> None:
        """Write the actions to the socket's buffer.

        One action at most is on its way to a connection, so that the buffer stays bounded
        without waiting for a slow reader here; if the socket is gone, nothing happens.
        """
        broadcast([self._socket], self._session.act(actions))

    def close(self, closing: Closing) -> None:
        """Begin the closing handshake."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._socket.close(*closing))

    async def serve(self) -> None:
        """Greet, then take messages until either side closes."""
        self._loop.join(self)
        try:
            await self._socket.send(self._session.greet())
            async for data in self._socket:
                self._receive(data)
        except ProtocolError as error:
            logger.warning("closing %s: %s", self, error)
            # The worker leaves before the closing handshake, which a hostile peer can draw out.
            self._loop.leave(self)
            await self._socket.close(*RESYNC)
        except ConnectionClosed as closed:
            logger.info("%s is gone: %s", self, closed)
        finally:
            self._loop.leave(self)

    def _receive(self, data: bytes | str) -> None:
        message = self._session.receive(data)
        if message.obs is not None:
            self._loop.algorithm.check_observation(message.obs)
        if isinstance(message, Infer):
            self._loop.infer(self, message)
        else:
            self._loop.feedback(self, message)


async def serve_env_client(
    socket: ServerConnection, loop: Loop, metadata: Metadata, *, max_envs: int
) -> None:
    """Serve one env client until either side closes."""
    await Connection(socket, ServerSession(metadata, max_envs=max_envs), loop).serve()


def _address(socket: ServerConnection) -> str:
    host, port = socket.remote_address[:2]
    return f"{host}:{port}"
