import fcntl
import os

import pytest

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


@pytest.mark.usefixtures("_home_that_is_a_file")
def test_a_home_that_can_not_be_written_reserves_nothing_and_refuses_nothing():
    assert choose_port(ServerConfig(port=8000)) in (0, 8000)


@pytest.fixture
def _home_that_is_a_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()
    monkeypatch.setenv("PLUGRL_HOME", str(path))
