"""How bytes reach a connection: the opening handshake and the first messages in any pieces."""

import asyncio

import numpy as np
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.uri import parse_uri

from plugrl.framing import binary_frame
from plugrl.protocol.messages import Action, Metadata
from plugrl.protocol.session import ClientSession, Due
from tests.server.conftest import Scripted, observe, running

pytestmark = pytest.mark.integration


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
    session = ClientSession()
    session.due = Due.INFER
    asked = session.infer(observe(1), np.arange(1), np.zeros(1, np.int64))
    infer = binary_frame(asked, from_client=True)
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
