import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from plugrl.cli import usual_port
from plugrl.cli.usual_port import choose_port
from plugrl.config.server import ServerConfig


def test_a_port_that_was_asked_for_is_taken_as_it_is():
    assert choose_port(ServerConfig(port=1234)) == 1234


CHOOSE = """
import sys
from plugrl.cli import usual_port
from plugrl.config.server import ServerConfig

usual = ServerConfig(port=int(sys.argv[1]))
usual_port.ServerConfig = lambda: usual
print(usual_port.choose_port(usual), flush=True)
sys.stdin.read()
"""


def launch_of(home, port: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CHOOSE, str(port)],
        env={**os.environ, "PLUGRL_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.integration
def test_of_two_launches_of_two_homes_one_gets_the_usual_port(free_port, tmp_path):
    # Neither has bound it yet, as servers take seconds to come up.
    port = free_port()
    launches = [launch_of(tmp_path / home, port) for home in ("one", "another")]
    chosen = [launch.stdout.readline().strip() for launch in launches if launch.stdout]
    assert sorted(chosen) == sorted(["0", str(port)])
    for launch in launches:
        launch.communicate()
    # It is free again when the launch has ended.
    assert usual_port.is_free(ServerConfig(port=port))
    with socket.socket(type=socket.SOCK_DGRAM) as mark:
        mark.bind(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_whether_the_usual_port_is_free_is_asked_of_its_own_address(family, host, monkeypatch):
    with socket.socket(family) as other:
        try:
            other.bind((host, 0))
        except OSError as error:
            pytest.skip(f"no {host} here: {error}")
        port = other.getsockname()[1]
        monkeypatch.setattr(usual_port, "ServerConfig", lambda: ServerConfig(port=port))
        other.listen()
        assert choose_port(ServerConfig(host=host, port=port)) == 0
    assert choose_port(ServerConfig(host=host, port=port)) == port
    # It is ours now, for as long as this process lives.
    assert choose_port(ServerConfig(host=host, port=port)) == 0


@pytest.fixture(autouse=True)
def reserved(monkeypatch) -> Iterator[None]:
    ours: list[socket.socket] = []
    monkeypatch.setattr(usual_port, "_reserved", ours)
    yield
    for mark in ours:
        mark.close()
