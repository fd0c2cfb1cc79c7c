"""A real server's feed: what comes, what breaks, and what is said then."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import serve

from plugrl.server.loop import StopReason
from plugrl_tui.core.feed import Access, FeedError
from plugrl_tui.core.feed_live import LiveFeed
from plugrl_tui.core.model import Link, RunModel
from tests.server.conftest import Scripted, client, running, until

pytestmark = pytest.mark.integration


@contextlib.asynccontextmanager
async def fed(url: str, access: Access | None = None) -> AsyncIterator[tuple[RunModel, LiveFeed]]:
    model, feed = RunModel("x"), LiveFeed(url, access)
    task = asyncio.create_task(feed.run(model))
    try:
        yield model, feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_snapshots_of_a_server_reach_the_model():
    async with running(Scripted()) as up, client(up.url) as asking, client(up.url):
        await asking.infer([4, 5])
        async with fed(up.url) as (model, _):
            await until(lambda: model.snapshot is not None and model.snapshot.queue.envs == 2)
            assert model.link is Link.LIVE
            assert model.snapshot is not None
            assert len(model.snapshot.workers) == 2


async def test_a_save_is_accepted_and_a_stop_ends_the_run_and_the_feed():
    async with running(Scripted()) as up, fed(up.url) as (model, feed):
        await until(lambda: model.link is Link.LIVE)
        await feed.send("save")
        await until(lambda: model.notice == "save: accepted")
        await feed.send("stop")
        assert await asyncio.wait_for(up.task, 20) is StopReason.STOPPED
        await until(lambda: model.link is Link.ENDED)


async def test_a_server_that_wants_a_key_refuses_without_it_and_takes_it():
    async with running(Scripted(), api_key="k") as up:
        async with fed(up.url) as (model, _):
            await until(lambda: model.link is Link.REFUSED)
            assert "PLUGRL_API_KEY" in model.link_reason
        async with fed(up.url, Access(api_key="wrong")) as (model, _):
            await until(lambda: model.link is Link.REFUSED)
            assert "does not take this key" in model.link_reason
            assert "wrong" not in model.link_reason
        async with fed(up.url, Access(api_key="k")) as (model, _):
            await until(lambda: model.link is Link.LIVE)


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_certificate_that_can_not_be_read_is_named(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    async with fed("wss://127.0.0.1:1", Access(tls_ca=path)) as (model, _):
        await until(lambda: model.link is Link.REFUSED)
        assert model.link_reason.startswith("expected a certificate to trust, got ")
        assert model.link_reason.endswith(f", at {path}")


async def test_without_a_server_the_next_try_is_told_and_can_be_made_at_once():
    port = free_port()
    async with fed(f"ws://127.0.0.1:{port}") as (model, feed):
        await until(lambda: model.link is Link.RECONNECTING)
        assert model.link_reason == f"nothing listens at ws://127.0.0.1:{port}"
        assert model.retry_at is not None
        with pytest.raises(FeedError, match="expected a connection"):
            await feed.send("stop")
        async with running(Scripted(), port=port):
            feed.retry_now()
            await until(lambda: model.link is Link.LIVE)


async def test_a_server_that_is_no_plugrl_server_is_told_apart():
    async def greet(peer):
        await peer.send('{"version": 99}')
        await peer.wait_closed()

    async with serve(greet, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with fed(f"ws://127.0.0.1:{port}") as (model, _):
            await until(lambda: model.link is Link.REFUSED)
            assert "expected snapshot version 1, got 99" in model.link_reason


async def test_a_server_that_speaks_no_websocket_is_told_apart():
    async def shout(reader, writer):
        writer.write(b"SSH-2.0-x\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with fed(f"ws://127.0.0.1:{port}") as (model, _):
            await until(lambda: model.link in {Link.REFUSED, Link.RECONNECTING})
            assert str(port) in model.link_reason
