"""An env client over WebSocket: a thin shell between the socket, the session and the loop."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from plugrl.config.server import LimitsConfig
from plugrl.errors import ProtocolError
from plugrl.framing import HEAD_END, Lane, binary_frame
from plugrl.protocol.closing import HELD_TOO_MUCH, INTERNAL_ERROR, RESYNC, Closing
from plugrl.protocol.messages import Array, Infer, Metadata, Observation
from plugrl.protocol.session import ServerSession
from plugrl.server.loop import Loop
from plugrl.server.worker import Worker

logger = logging.getLogger(__name__)

READ_BYTES = 2**16
"""Most that is read from a socket at once."""
MAX_UNREAD_BYTES = 2**20
"""What a peer may leave unread when more is to be sent to it. The last actions are read by then:
their feedback came in between. Pongs are small."""
MAX_FRAGMENTS = 2**14
"""Of one message: each costs as much as a small message, and may be empty."""


class EnvSocket(ServerConnection):
    """A connection that can hand over a message in the very callback that brought its last byte.

    The usual way, through a queue to a task that waits for it, costs more than all else that is
    done with a small message. Fragmented messages go that way still, and so does what follows
    them until the task has caught up: nothing is overtaken.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Hand over nothing yet."""
        super().__init__(*args, **kwargs)
        self.hand_over: Callable[[bytes, bool], None] | None = None
        """Takes a binary message, and whether more came with it; must not raise."""
        self.num_queued = 0
        """Messages begun the usual way that the task has not yet taken."""
        self._lane: Lane | None = None
        self._num_fragments = 0
        """Of the message that comes in fragments now, behind the first one."""

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        if self.protocol.state is State.CONNECTING:
            # Whoever sends on before the answer, or the head in pieces, goes the usual way.
            _, head_end, frames = data.partition(HEAD_END)
            self._lane = Lane(from_client=True) if head_end and not frames else None
        elif self._lane is not None:
            self._take_all(self._lane, data)
            return
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of what was begun: it may be large, and the library keeps us in a circle."""
        self._lane = self.hand_over = None
        super().connection_lost(exc)

    def _take_all(self, lane: Lane, data: bytes) -> None:
        max_bytes = self.protocol.max_message_size
        assert max_bytes is not None
        cuts = lane.cut(data, max_bytes)
        for cut in cuts:
            if not cut.is_message:
                super().data_received(cut.data)
            elif self.protocol.state is not State.OPEN:
                continue
            elif self.hand_over is not None and not self.num_queued:
                self.hand_over(cut.data, cut is not cuts[-1])
            else:
                self.process_event(Frame(Opcode.BINARY, cut.data))

    def process_event(self, event: Any) -> None:
        """Take a frame from the network."""
        if isinstance(event, Frame) and event.opcode is Opcode.PING and self.reads_nothing:
            self.transport.abort()
        if isinstance(event, Frame) and event.opcode is Opcode.CONT:
            self._count_fragment(event)
        if isinstance(event, Frame) and event.opcode in {Opcode.BINARY, Opcode.TEXT}:
            whole = event.fin and event.opcode is Opcode.BINARY
            if whole and self.hand_over is not None and not self.num_queued:
                self.hand_over(bytes(event.data), True)  # noqa: FBT003 - the library does not tell
                return
            self.num_queued += 1
        super().process_event(event)

    def _count_fragment(self, event: Frame) -> None:
        self._num_fragments = 0 if event.fin else self._num_fragments + 1
        if self._num_fragments == MAX_FRAGMENTS:
            address = _address(self)
            logger.warning("closing %s: a message of over %d fragments", address, MAX_FRAGMENTS)
            self.transport.abort()

    def send_now(self, data: bytes) -> None:
        """Write a binary message to the socket's buffer; nothing happens if the socket is gone."""
        if self.protocol.state is State.OPEN:
            self.transport.write(binary_frame(data, from_client=False))

    @property
    def reads_nothing(self) -> bool:
        """Whether too much waits for the peer to read it."""
        return self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES


class Connection(Worker):
    """A worker at the other end of a WebSocket."""

    def __init__(
        self, socket: EnvSocket, session: ServerSession, loop: Loop, *, max_held_bytes: int
    ) -> None:
        """Take a socket whose handshake is done."""
        super().__init__(_address(socket), loop.new_place())
        self._max_held_bytes = max_held_bytes
        self._socket = socket
        self._session = session
        self._loop = loop
        self._closing: asyncio.Task[None] | None = None
        # An infer that reuses a whole feedback's observation comes with that very object.
        self._checked: Observation | None = None

    def send(self, actions: Array) -> None:
        """Write the actions to the socket's buffer.

        A peer that reports without reading its actions is closed, so that the buffer stays
        bounded without waiting for a slow reader here; if the socket is gone, nothing happens.
        """
        if self._socket.reads_nothing:
            logger.warning("closing %s: it reads nothing of what it is sent", self)
            self.close(RESYNC)
            return
        if self.step_states.num_bytes > self._max_held_bytes:
            logger.warning(
                "closing %s: its envs hold %d bytes of observations without feedback, more than %d "
                "(--limits.max-held-bytes)",
                *(self, self.step_states.num_bytes, self._max_held_bytes),
            )
            self.close(HELD_TOO_MUCH)
            return
        self._socket.send_now(self._session.act(actions))

    def close(self, closing: Closing) -> None:
        """Begin the closing handshake; be waited for no longer."""
        # A hostile peer can draw the handshake out: nobody else is to wait for that.
        self._loop.leave(self)
        if self._closing is None:
            self._socket.hand_over = None
            self._closing = asyncio.create_task(self._socket.close(*closing))

    async def serve(self) -> None:
        """Greet, then take messages until either side closes."""
        self._loop.join(self)
        # asyncio reads into a fresh buffer of 256 KiB each time, which costs a memory mapping.
        if hasattr(self._socket.transport, "max_size"):
            self._socket.transport.max_size = READ_BYTES
        self._socket.hand_over = self._receive
        try:
            await self._socket.send(self._session.greet())
            async for data in self._socket:
                self._socket.num_queued -= 1
                self._receive(data, more_came=self._socket.num_queued > 0)
        except ConnectionClosed as closed:
            logger.info("%s is gone: %s", self, closed)
        finally:
            self._loop.leave(self)
            if self._closing is not None:
                await self._closing

    def _receive(self, data: bytes | str, more_came: bool) -> None:  # noqa: FBT001 - as handed over
        if self._closing is not None:
            return
        try:
            message = self._session.receive(data)
            if message.obs is not None and message.obs is not self._checked:
                self._loop.algorithm.check_observation(message.obs)
                self._checked = message.obs
        except ProtocolError as error:
            logger.warning("closing %s: %s", self, error)
            self.close(RESYNC)
            return
        except Exception:
            # What a plug-in's own check raises must not reach the transport, nor anybody else.
            logger.exception("closing %s: its message could not be handled", self)
            self.close(INTERNAL_ERROR)
            return
        if isinstance(message, Infer):
            self._loop.infer(self, message, more_came=more_came)
        else:
            self._loop.feedback(self, message)


async def serve_env_client(
    socket: EnvSocket, loop: Loop, metadata: Metadata, *, limits: LimitsConfig
) -> None:
    """Serve one env client until either side closes."""
    session = ServerSession(metadata, max_envs=limits.max_envs_per_connection)
    await Connection(socket, session, loop, max_held_bytes=limits.max_held_bytes).serve()


def _address(socket: ServerConnection) -> str:
    host, port = socket.remote_address[:2]
    return f"{host}:{port}"
