"""What one peer does wrong must cost only that peer."""

import asyncio
import logging
from functools import partial

import msgpack
import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from plugrl.config.server import LimitsConfig
from plugrl.framing import binary_frame
from plugrl.protocol import wire
from plugrl.protocol.closing import HELD_TOO_MUCH, RESYNC
from plugrl.protocol.messages import Feedback, Infer
from plugrl.server.worker import WorkerState
from tests.server.conftest import (
    Scripted,
    client,
    feedback_for,
    observe,
    running,
    until,
)

pytestmark = pytest.mark.integration


LIMITS = LimitsConfig(infer_wait_timeout_s=0.05, close_timeout_s=0.5)


def _raw_infer(**changes: object) -> dict[object, object]:
    raw = msgpack.unpackb(
        wire.encode(Infer(observe(1), np.array([0]), np.zeros(1, np.int64))), strict_map_key=False
    )
    raw.update(changes)
    return {key: value for key, value in raw.items() if value is not ...}


WRONG_FIRST_FRAMES = {
    "garbage": b"\xc1\xff\x00garbage",
    "nothing": b"",
    "text": "hello",
    "not a map": msgpack.packb([1, 2, 3]),
    "unknown type": msgpack.packb({"message_type": "hello", "data": {}}),
    "a missing key": msgpack.packb(_raw_infer(env_indices=...)),
    "a step id too many": msgpack.packb(
        _raw_infer(step_ids=_raw_infer()["env_indices"] | {b"shape": [2], b"data": bytes(16)})  # type: ignore[operator]
    ),
    "a duplicate env": wire.encode(Infer(observe(2), np.array([1, 1]), np.zeros(2, np.int64))),
    "a negative env": wire.encode(Infer(observe(1), np.array([-1]), np.zeros(1, np.int64))),
    "an env beyond the limit": wire.encode(
        Infer(observe(1), np.array([2**40]), np.zeros(1, np.int64))
    ),
    "a NaN observation": wire.encode(
        Infer(observe(1, value=np.nan), np.array([0]), np.zeros(1, np.int64))
    ),
    "feedback before infer": wire.encode(feedback_for([0])),
}


@pytest.mark.parametrize("wrong", WRONG_FIRST_FRAMES.values(), ids=WRONG_FIRST_FRAMES.keys())
async def test_a_wrong_frame_closes_only_its_own_connection(wrong, caplog):
    async with running(Scripted()) as up, client(up.url) as good, client(up.url) as bad:
        await bad.socket.send(wrong)
        assert await bad.closing() == RESYNC
        await good.exchange([0])
        await good.exchange([0])
        assert not up.task.done()
    host, port = bad.socket.local_address[:2]
    (warning,) = [r.message for r in caplog.records if r.levelno == logging.WARNING]
    assert f"{host}:{port}" in warning


WRONG_FEEDBACKS = {
    "a NaN reward": feedback_for([0], reward=float("nan")),
    "a NaN observation": Feedback(
        np.array([0]),
        np.array([0]),
        observe(1, value=np.inf),
        np.ones(1, np.float32),
        np.zeros(1, bool),
        np.zeros(1, bool),
    ),
    "info of another length": feedback_for([0], lives=np.zeros(2)),
}


@pytest.mark.parametrize("wrong", WRONG_FEEDBACKS.values(), ids=WRONG_FEEDBACKS.keys())
async def test_a_wrong_feedback_closes_only_its_own_connection(wrong):
    algorithm = Scripted()
    async with running(algorithm) as up, client(up.url) as good, client(up.url) as bad:
        await asyncio.gather(good.infer([0]), bad.infer([0]))
        await asyncio.gather(good.action(), bad.action())
        await bad.socket.send(wire.encode(wrong))
        assert await bad.closing() == RESYNC
        await good.feedback(feedback_for([0]))
        await good.exchange([0])
        assert all(np.isfinite(f.rewards).all() for f in algorithm.taken)


async def test_a_message_out_of_turn_is_refused_while_the_others_are_waited_for():
    async with running(Scripted()) as up, client(up.url) as other, client(up.url) as hasty:
        await hasty.infer([0])
        await hasty.socket.send(
            wire.encode(Infer(observe(1), np.array([0]), np.zeros(1, np.int64)))
        )
        assert await hasty.closing() == RESYNC
        await other.exchange([0])


async def test_who_does_not_wait_for_its_actions_is_refused_however_quick_they_are():
    algorithm = Scripted()
    async with running(algorithm) as up, client(up.url) as hasty:
        num_exchanges = 0
        while not up.server.loop.turn.is_quick:
            await hasty.exchange([0])
            num_exchanges += 1
        infer = wire.encode(Infer(observe(1), np.array([0]), np.zeros(1, np.int64)))
        feedback = wire.encode(feedback_for([0]))
        frames = [binary_frame(message, from_client=True) for message in (infer, feedback)]
        hasty.socket.transport.write(b"".join(frames * 50))
        assert await hasty.closing() == RESYNC
    assert algorithm.global_step == num_exchanges


async def test_a_client_that_never_infers_is_waited_for_no_longer_than_the_limit(caplog):
    async with running(Scripted(), limits=LIMITS) as up, client(up.url), client(up.url) as good:
        await good.exchange([0])
        await good.exchange([0])
    assert "no longer waiting for it" in caplog.text


async def test_a_client_that_vanishes_without_a_close_is_waited_for_no_longer():
    async with running(Scripted()) as up, client(up.url) as good, client(up.url) as gone:
        await until(lambda: len(up.server.loop.batcher.workers) == 2)
        await good.infer([0])
        gone.socket.transport.abort()
        await good.action()


async def test_a_client_killed_in_mid_message_leaves_no_trace():
    message = wire.encode(Infer(observe(64, 512), np.arange(64), np.zeros(64, np.int64)))
    async with running(Scripted()) as up, client(up.url) as good:
        async with client(up.url) as killed:
            killed.socket.transport.write(b"\x82\xff" + len(message).to_bytes(8, "big") + bytes(4))
            killed.socket.transport.write(message[: len(message) // 2])
            killed.socket.transport.abort()
        await until(lambda: len(up.server.loop.batcher.workers) == 1)
        await good.exchange([0])
        await good.exchange([0])


async def test_a_message_beyond_the_limit_closes_its_connection():
    limits = LimitsConfig(max_message_bytes=1000)
    async with running(Scripted(), limits=limits) as up, client(up.url) as peer:
        await peer.socket.send(bytes(1001))
        code, _ = await peer.closing()
        assert code == 1009


async def test_a_client_that_reports_without_reading_its_actions_is_closed(caplog):
    algorithm = Scripted(action_dim=2**18)

    def inferred(times: int) -> bool:
        return len(algorithm.infer_sizes) >= times

    async with (
        running(algorithm, limits=LIMITS) as up,
        connect(up.url, max_queue=1, max_size=None, close_timeout=0.2) as blind,
    ):
        workers = up.server.loop.batcher.workers
        (worker,) = workers.values()
        for i in range(64):
            await blind.send(wire.encode(Infer(observe(1), np.array([0]), np.zeros(1, np.int64))))
            await until(partial(inferred, i + 1))
            await until(lambda: worker.state is WorkerState.STEPPING)
            if not workers:
                break
            await blind.send(wire.encode(feedback_for([0])))
        assert "reads nothing" in caplog.text


@pytest.mark.many_examples
async def test_a_flood_of_pings_whose_pongs_nobody_reads_is_cut_off():
    async with running(Scripted(), limits=LIMITS) as up:
        reader, writer = await asyncio.open_connection("127.0.0.1", up.server.port, limit=1024)
        protocol = ClientProtocol(parse_uri(f"{up.url}/"))
        protocol.send_request(protocol.connect())
        writer.writelines(protocol.data_to_send())
        protocol.receive_data(await reader.readuntil(b"\r\n\r\n"))
        for _ in range(1000):
            protocol.send_ping(bytes(125))
        flood = b"".join(protocol.data_to_send())
        with pytest.raises(ConnectionError):  # noqa: PT012 - it breaks at any of the writes
            for _ in range(1000):
                writer.write(flood)
                await writer.drain()
        writer.transport.abort()


async def test_a_peer_that_leaves_ever_more_actions_open_is_closed_and_nobody_else(caplog):
    limits = LimitsConfig(max_held_bytes=3 * observe(1).num_bytes)
    async with running(Scripted(), limits=limits, mini_infer_batch_size=1) as up:
        async with client(up.url) as good, client(up.url) as bad:
            for env in range(3):
                await bad.infer([env])
                await bad.action()
                await bad.feedback(feedback_for([]))
            await bad.infer([3])
            assert await bad.closing() == HELD_TOO_MUCH
            # One that reports what it was given may go on for ever.
            for env in range(9):
                await good.exchange([env])
    assert "more than" in caplog.text
    assert "(--limits.max-held-bytes)" in caplog.text


@pytest.mark.parametrize("said", [b"", b"garbage\r\n\r\n"])
async def test_a_stranger_that_speaks_no_websocket_is_one_line_without_a_traceback(said, caplog):
    async with running(Scripted()) as up, client(up.url) as good:
        uri = parse_uri(up.url)
        _, stranger = await asyncio.open_connection(uri.host, uri.port)
        stranger.write(said)
        stranger.close()
        await until(lambda: "a connection came to nothing" in caplog.text)
        await good.exchange([0])
    (record,) = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert record.exc_info is None
    assert record.getMessage().endswith(": did not receive a valid HTTP request")


async def test_a_stranger_that_sends_an_illegal_frame_before_the_answer_is_one_line_too(caplog):
    async with running(Scripted()) as up, client(up.url) as good:
        uri = parse_uri(up.url)
        protocol = ClientProtocol(uri)
        protocol.send_request(protocol.connect())
        reader, stranger = await asyncio.open_connection(uri.host, uri.port)
        stranger.write(b"".join(protocol.data_to_send()) + b"\x83\x80keys")
        assert await reader.read() == b""
        stranger.close()
        await until(lambda: "a connection came to nothing" in caplog.text)
        await good.exchange([0])
    (record,) = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert record.exc_info is None
