"""Viewers and scrapers: what they see, what they may do, and what they cost."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from plugrl.server.loop import StopReason
from tests.server.conftest import Running, Scripted, client, running, until

pytestmark = pytest.mark.integration


async def _get(up: Running, path: str, headers: str = "") -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", up.server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
    response = (await reader.read()).decode()
    writer.close()
    head, _, body = response.partition("\r\n\r\n")
    return int(head.split()[1]), body


async def test_healthz_says_ok_and_the_phase():
    async with running(Scripted()) as up:
        assert await _get(up, "/healthz") == (200, "ok collect\n")


async def test_an_unknown_path_names_the_known_ones():
    async with running(Scripted()) as up:
        status, body = await _get(up, "/nowhere")
    assert status == 404
    assert "/monitor" in body


async def test_metrics_are_prometheus_text_and_want_the_key():
    async with running(Scripted(), api_key="k") as up:
        headers = {"Authorization": "Api-Key k"}
        async with client(up.url, additional_headers=headers) as peer:
            await peer.exchange([0, 1])
            await peer.infer([0])
            await peer.action()
            assert (await _get(up, "/metrics"))[0] == 401
            status, body = await _get(up, "/metrics", "Authorization: Api-Key k\r\n")
    assert status == 200
    assert "# TYPE plugrl_global_step counter\nplugrl_global_step 2.0\n" in body
    assert 'plugrl_frames_discarded_total{cause="no_step_state"} 0.0' in body


async def test_a_viewer_sees_the_workers_and_the_queue():
    async with running(Scripted()) as up, client(up.url) as asking, client(up.url):
        await asking.infer([4, 5])
        await until(lambda: up.server.loop.batcher.num_requests == 1)
        async with connect(f"{up.url}/monitor") as viewer:
            snapshot = json.loads(await viewer.recv())
    queue = snapshot["infer_queue"]
    assert (queue["requests"], queue["envs"], queue["threshold_requests"]) == (1, 2, 2)
    assert [worker["state"] for worker in snapshot["workers"]] == ["queued", "joined"]
    assert queue["missing"] == [snapshot["workers"][1]["id"]]


async def test_a_viewer_gets_a_stream_and_ten_get_the_same_one():
    async with running(Scripted()) as up:
        viewers = [await connect(f"{up.url}/monitor") for _ in range(10)]
        await viewers[-1].recv()
        tick = await viewers[-1].recv()
        async with asyncio.timeout(5):
            for viewer in viewers[:-1]:
                # Who came earlier may have seen some ticks more.
                while await viewer.recv() != tick:
                    pass
        for viewer in viewers:
            await viewer.close()
        await until(lambda: up.server._monitor.num_viewers == 0)


async def test_a_viewer_on_loopback_may_stop_the_run():
    async with running(Scripted()) as up, connect(f"{up.url}/monitor") as viewer:
        await viewer.send(json.dumps({"command": "stop"}))
        assert await asyncio.wait_for(up.task, 5) is StopReason.STOPPED


@pytest.mark.parametrize("command", ["launch", 3, None, ["stop"], {"stop": 1}])
async def test_an_unknown_command_is_answered_with_the_known_ones(command):
    async with running(Scripted()) as up, connect(f"{up.url}/monitor") as viewer:
        await viewer.recv()
        await viewer.send(json.dumps({"command": command}))
        replies = [json.loads(await viewer.recv()) for _ in range(2)]
    assert any("save" in reply.get("error", "") for reply in replies)


async def test_a_page_of_another_site_is_refused():
    async with running(Scripted()) as up:
        with pytest.raises(InvalidStatus, match="403"):
            async with connect(f"{up.url}/monitor", origin=Origin("https://evil.example")):
                pass


async def test_a_viewer_that_reads_nothing_slows_nobody():
    async with (
        running(Scripted()) as up,
        connect(f"{up.url}/monitor", max_queue=1, close_timeout=0.2),
    ):
        async with client(up.url) as peer:
            for _ in range(200):
                await peer.exchange([0])


async def test_a_viewer_with_a_query_in_its_path_is_no_env_client():
    async with running(Scripted()) as up, connect(f"{up.url}/monitor?tab=1") as viewer:
        assert json.loads(await viewer.recv())["workers"] == []
