"""The server over real sockets: what one peer does wrong must cost only that peer."""

import asyncio
import logging
import socket as sockets
import ssl
import subprocess
import urllib.request
from functools import partial
from pathlib import Path

import msgpack
import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.uri import parse_uri

from plugrl.config.server import LimitsConfig, ServerConfig
from plugrl.errors import UsageError
from plugrl.protocol import wire
from plugrl.protocol.closing import FEEDBACK_TIMEOUT, INTERNAL_ERROR, RESYNC, SERVER_STOP
from plugrl.protocol.messages import Feedback, Infer, Observation
from plugrl.server.loop import StopReason
from plugrl.server.server import Server
from plugrl.server.worker import WorkerState
from tests.server.conftest import (
    Client,
    InProcess,
    Scripted,
    client,
    feedback_for,
    hold_learns,
    observe,
    running,
    until,
)

pytestmark = pytest.mark.integration

LIMITS = LimitsConfig(infer_wait_timeout_s=0.05, close_timeout_s=0.5)


async def test_greeting_then_exchanges_then_server_stop():
    algorithm = Scripted(global_steps=6)
    async with running(algorithm) as up, client(up.url) as peer:
        for _ in range(3):
            await peer.exchange([0, 3])
        assert await peer.closing() == SERVER_STOP
        assert await up.task is StopReason.FINISHED


async def test_the_greeting_says_who_it_is_and_what_it_offers():
    async with running(Scripted()) as up, connect(up.url) as socket:
        peer = Client(socket)
        data = (await peer.greet()).data
    assert data["protocol_version"] == 1
    assert data["action_dim"] == 2
    assert data["features"] == ["reuse-feedback-obs"]


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


async def test_a_hundred_clients_that_reconnect_at_once_are_all_served():
    algorithm = Scripted()

    async def one(url: str) -> None:
        async with client(url) as peer:
            await peer.exchange([0, 1])

    async with running(algorithm, limits=LimitsConfig(infer_wait_timeout_s=2.0)) as up:
        for _ in range(2):
            await asyncio.gather(*(one(up.url) for _ in range(100)))
        await until(lambda: not up.server.loop.batcher.workers)
        assert algorithm.global_step == 400


async def test_after_a_reconnect_the_old_step_state_is_gone():
    algorithm = Scripted()
    async with running(algorithm) as up:
        async with client(up.url) as peer:
            await peer.infer([0])
            await peer.action()
        async with client(up.url) as peer:
            await peer.infer([1])
            await peer.action()
            await peer.feedback(feedback_for([0]))
            await peer.exchange([1])
            await until(lambda: algorithm.global_step == 1)
        assert up.server.loop.collector.discarded.total() == 1


async def test_env_0_of_two_clients_are_different_envs():
    algorithm = Scripted()
    async with running(algorithm) as up, client(up.url) as one, client(up.url) as other:
        await asyncio.gather(one.exchange([0]), other.exchange([0]))
        await until(lambda: len(algorithm.taken) == 2)
    assert len({int(frames.streams[0]) for frames in algorithm.taken}) == 2


async def test_missing_feedback_is_closed_with_its_own_reason():
    async with running(Scripted(), feedback_wait_timeout=0.05) as up, client(up.url) as slow:
        await slow.infer([0])
        await slow.action()
        assert await slow.closing() == FEEDBACK_TIMEOUT


async def test_the_feedback_timeout_stands_still_during_a_learn():
    algorithm = Scripted(fake_learn_freq=1)
    learning, go_on = hold_learns(algorithm)
    async with running(algorithm, feedback_wait_timeout=0.5) as up:
        async with client(up.url) as fast, client(up.url) as slow:
            await asyncio.gather(fast.infer([0]), slow.infer([0]))
            await asyncio.gather(fast.action(), slow.action())
            await fast.feedback(feedback_for([0]))
            await asyncio.to_thread(learning.wait, 5)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(slow.socket.wait_closed(), 0.7)
            go_on.set()
            await slow.feedback(feedback_for([0]))
            await asyncio.gather(fast.infer([0]), slow.infer([0]))
            await asyncio.gather(fast.action(), slow.action())


async def test_a_ping_is_answered_during_a_learn():
    algorithm = Scripted(fake_learn_freq=1)
    learning, go_on = hold_learns(algorithm)
    async with running(algorithm) as up, client(up.url) as peer:
        await peer.exchange([0])
        await asyncio.to_thread(learning.wait, 5)
        await asyncio.wait_for(await peer.socket.ping(), 5)
        go_on.set()


async def test_a_failing_algorithm_closes_everybody_as_an_internal_error():
    algorithm = Scripted()
    algorithm.infer_error = RuntimeError("boom")
    async with running(algorithm) as up, client(up.url) as one, client(up.url) as other:
        await asyncio.gather(one.infer([0]), other.infer([0]))
        assert await one.closing() == INTERNAL_ERROR
        assert await other.closing() == INTERNAL_ERROR
        with pytest.raises(RuntimeError, match="boom"):
            await up.task


async def test_a_requested_stop_tells_clients_not_to_come_back():
    async with running(Scripted()) as up, client(up.url) as peer:
        await peer.exchange([0])
        up.server.request_stop()
        assert await peer.closing() == SERVER_STOP
        assert await up.task is StopReason.STOPPED


async def test_a_peer_that_never_shakes_hands_does_not_hold_up_a_stop():
    async with running(Scripted(), limits=LIMITS) as up:
        _, writer = await asyncio.open_connection("127.0.0.1", up.server.port)
        up.server.request_stop()
        # The handshake itself would be waited for 10 s.
        async with asyncio.timeout(7):
            assert await up.task is StopReason.STOPPED
        writer.close()


async def test_a_taken_port_is_one_sentence():
    with sockets.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}.*--port"):
            async with running(Scripted(), port=port):
                pass


async def test_clients_of_other_forms_are_served_in_the_same_run():
    async with running(Scripted()) as up, client(up.url) as one, client(up.url) as other:
        await asyncio.gather(one.infer([0]), other.infer([0, 1], observe(2, width=9)))
        await asyncio.gather(one.action(), other.action())


async def test_without_the_key_the_door_is_closed_and_with_it_open():
    async with running(Scripted(), api_key="open sesame") as up:
        for headers in ({}, {"Authorization": "Api-Key wrong"}, {"Authorization": "open sesame"}):
            with pytest.raises(InvalidStatus) as refusal:
                async with connect(up.url, additional_headers=headers):
                    pass
            assert refusal.value.response.status_code == 401
        headers = {"Authorization": "Api-Key open sesame"}
        async with client(up.url, additional_headers=headers) as peer:
            await peer.exchange([0])


async def test_a_browser_is_told_where_it_is():
    async with running(Scripted()) as up:
        address = up.url.replace("ws://", "http://")
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(address).read().decode())
    for path in ("/healthz", "/metrics", "/monitor"):
        assert path in answer


async def test_more_connections_than_the_limit_are_refused():
    async with running(Scripted(), limits=LimitsConfig(max_connections=1)) as up, client(up.url):
        with pytest.raises(InvalidStatus, match="503"):
            async with connect(up.url):
                pass


async def test_a_message_beyond_the_limit_closes_its_connection():
    limits = LimitsConfig(max_message_bytes=1000)
    async with running(Scripted(), limits=limits) as up, client(up.url) as peer:
        await peer.socket.send(bytes(1001))
        code, _ = await peer.closing()
        assert code == 1009


def _certificate(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


async def test_wss_is_served_with_a_certificate(tmp_path):
    cert, key = _certificate(tmp_path)
    trusting = ssl.create_default_context(cafile=str(cert))
    async with running(Scripted(), tls_cert=cert, tls_key=key) as up:
        assert up.url.startswith("wss://")
        async with client(up.url, ssl=trusting) as peer:
            await peer.exchange([0])


async def test_an_unreadable_certificate_is_one_sentence(tmp_path):
    (tmp_path / "cert.pem").write_text("nonsense")
    with pytest.raises(UsageError, match="certificate"):
        async with running(
            Scripted(), tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "cert.pem"
        ):
            pass


async def test_reused_observations_reach_the_algorithm_as_if_they_had_been_sent():
    algorithm = Scripted()
    async with running(algorithm) as up, client(up.url) as peer:
        await peer.exchange([0, 1])
        infer = peer.session.infer(
            observe(2), np.array([0, 1]), np.zeros(2, np.int64), unchanged=np.array([True, False])
        )
        assert len(infer) < len(wire.encode(Infer(observe(2), np.arange(2), np.arange(2)))) + 60
        await peer.socket.send(infer)
        await peer.action()
        await peer.feedback(feedback_for([0, 1]))
        await peer.infer([0])
        await peer.action()
    assert algorithm.infer_sizes == [2, 2, 1]
    np.testing.assert_array_equal(algorithm.taken[1].obs.states["state"], np.zeros((2, 3)))


async def test_an_image_named_like_a_state_costs_nobody_anything():
    async with running(Scripted()) as up, client(up.url) as one, client(up.url) as other:
        for peer, height in ((one, 2), (other, 3)):
            images = {"state/state": np.zeros((1, height, 2, 3), np.uint8)}
            states = {"state": np.zeros((1, 3))}
            await peer.infer([0], Observation(images, states, np.array([""])))
        assert (await one.action()).action.shape == (await other.action()).action.shape


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


async def test_a_stop_that_is_asked_for_before_the_start_is_heard():
    algorithm = Scripted()
    server = Server(
        algorithm,
        ServerConfig(port=0),
        learner=InProcess(algorithm),
        saver=None,
        report=lambda metrics, step: None,
    )
    server.request_stop()
    assert await asyncio.wait_for(server.run(handle_signals=False), 5) is StopReason.STOPPED
