"""The server over real sockets, from the greeting to the stop."""

import asyncio

import numpy as np
import pytest
from websockets.asyncio.client import connect

from plugrl.config.server import LimitsConfig, ServerConfig
from plugrl.protocol import wire
from plugrl.protocol.closing import FEEDBACK_TIMEOUT, INTERNAL_ERROR, SERVER_STOP
from plugrl.protocol.messages import Infer, Observation
from plugrl.server.loop import StopReason
from plugrl.server.server import Server
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


@pytest.mark.many_examples
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


async def test_clients_of_other_forms_are_served_in_the_same_run():
    async with running(Scripted()) as up, client(up.url) as one, client(up.url) as other:
        await asyncio.gather(one.infer([0]), other.infer([0, 1], observe(2, width=9)))
        await asyncio.gather(one.action(), other.action())


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
