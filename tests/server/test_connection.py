"""How bytes reach a connection: the opening handshake and the first messages in any pieces."""

import asyncio
import gc
import weakref

import numpy as np
import pytest
from websockets.client import ClientProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.uri import parse_uri

from plugrl.framing import Lane, binary_frame
from plugrl.protocol.messages import Action, Metadata, Observation
from plugrl.protocol.session import ClientSession, Due
from plugrl.server.connection import MAX_FRAGMENTS, Connection
from tests.server.conftest import Running, Scripted, client, observe, running, until

pytestmark = pytest.mark.integration


class Looking(Scripted):
    """Counts the observations that reach it, whatever becomes of them."""

    num_seen = 0

    def check_observation(self, obs: Observation) -> None:
        self.num_seen += 1
        super().check_observation(obs)


def asking() -> tuple[ClientSession, bytes]:
    """A session that waits for its first action, and the frame that asks for it."""
    session = ClientSession()
    session.due = Due.INFER
    message = session.infer(observe(1), np.arange(1), np.zeros(1, np.int64))
    return session, binary_frame(message, from_client=True)


async def messages(
    protocol: ClientProtocol, reader: asyncio.StreamReader, number: int
) -> list[bytes]:
    """The next messages, from what has come and what comes."""
    came: list[bytes] = []
    async with asyncio.timeout(5):
        while True:
            came += [bytes(e.data) for e in protocol.events_received() if isinstance(e, Frame)]
            if len(came) >= number:
                return came
            protocol.receive_data(await reader.read(65536))


async def health(port: int) -> bytes:
    """Ask on another connection: what was sent before has been read when the answer is there."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("early", [False, True], ids=["after the answer", "before the answer"])
@pytest.mark.parametrize("cut", [0, 20, -3], ids=["whole", "in two", "in two at its end"])
async def test_an_infer_is_answered_however_the_handshake_was_sent(early, cut):
    session, infer = asking()
    async with running(Scripted()) as up:
        reader, writer = await asyncio.open_connection("127.0.0.1", up.server.port)
        protocol = ClientProtocol(parse_uri(f"{up.url}/"))
        protocol.send_request(protocol.connect())
        first = b"".join(protocol.data_to_send()) + (infer if early else b"")
        writer.write(first[:cut])
        assert b"200 OK" in await health(up.server.port)
        writer.write(first[cut:])
        greeting, *answer = await messages(protocol, reader, 1)
        assert isinstance(ClientSession().receive(greeting), Metadata)
        if not early:
            writer.write(infer)
        answer = answer or await messages(protocol, reader, 1)
        assert isinstance(session.receive(answer[0]), Action)
        writer.close()


async def test_what_comes_behind_the_close_frame_is_not_taken():
    algorithm = Looking()
    async with running(algorithm) as up:
        reader, writer = await asyncio.open_connection("127.0.0.1", up.server.port)
        protocol = ClientProtocol(parse_uri(f"{up.url}/"))
        protocol.send_request(protocol.connect())
        writer.writelines(protocol.data_to_send())
        await messages(protocol, reader, 1)
        protocol.send_close(1000)
        _, infer = asking()
        writer.write(b"".join([*protocol.data_to_send(), infer]))
        async with asyncio.timeout(5):
            await reader.read()
        writer.close()
    assert algorithm.num_seen == 0


def lane_of_the_only_worker(up: Running) -> Lane:
    (worker,) = up.server.loop.batcher.workers.values()
    assert isinstance(worker, Connection)
    assert worker._socket._lane is not None
    return worker._socket._lane


async def test_what_a_lost_connection_had_begun_to_send_is_let_go_at_once():
    async with running(Scripted()) as up, client(up.url) as peer:
        begun = binary_frame(bytes(2**16), from_client=True)[: 2**15]
        peer.socket.transport.write(begun)
        await until(lambda: len(lane_of_the_only_worker(up)._held) == len(begun))
        held = weakref.ref(lane_of_the_only_worker(up))
        gc.disable()
        try:
            peer.socket.transport.abort()
            await until(lambda: held() is None)
        finally:
            gc.enable()


async def test_a_message_in_too_many_fragments_costs_only_its_peer(caplog):
    fragment = Frame(Opcode.CONT, b"", fin=False).serialize(mask=True)
    first = Frame(Opcode.BINARY, b"", fin=False).serialize(mask=True)
    async with running(Scripted()) as up, client(up.url) as peer, client(up.url) as other:
        peer.socket.transport.write(first + fragment * MAX_FRAGMENTS)
        assert (await peer.closing())[0] == CloseCode.ABNORMAL_CLOSURE
        await other.exchange([0])
    assert f"a message of over {MAX_FRAGMENTS} fragments" in caplog.text
