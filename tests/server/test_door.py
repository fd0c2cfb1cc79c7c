"""Who is let in by the server, where it listens, and what strangers are told."""

import asyncio
import socket as sockets
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from plugrl.config.server import LimitsConfig
from plugrl.errors import UsageError
from tests.server.conftest import (
    Scripted,
    client,
    running,
)

pytestmark = pytest.mark.integration


async def test_a_taken_port_is_one_sentence():
    with sockets.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}.*--port"):
            async with running(Scripted(), port=port):
                pass


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
