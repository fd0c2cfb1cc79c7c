import fcntl
import os
import socket

import pytest

from plugrl.cli import usual_port
from plugrl.cli.usual_port import choose_port
from plugrl.config.server import ServerConfig
from plugrl.runs.home import home


def test_a_port_that_was_asked_for_is_taken_as_it_is():
    assert choose_port(ServerConfig(port=1234)) == 1234


def test_the_usual_port_is_left_to_the_launch_that_is_about_to_bind_it():
    usual = ServerConfig()
    home().mkdir(parents=True, exist_ok=True)
    other = os.open(home() / f"port-{usual.port}.lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert choose_port(usual) == 0
    os.close(other)


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


@pytest.mark.usefixtures("_home_that_is_a_file")
def test_a_home_that_can_not_be_written_reserves_nothing_and_refuses_nothing():
    assert choose_port(ServerConfig(port=8000)) in (0, 8000)


@pytest.fixture
def _home_that_is_a_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()
    monkeypatch.setenv("PLUGRL_HOME", str(path))
