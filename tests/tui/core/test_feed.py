"""From what a person typed to where a run's news come from."""

import pytest

from plugrl.config import client, server
from plugrl.errors import UnknownNameError, UsageError
from plugrl_tui.core.attach import API_KEY_VARIABLE, attach
from plugrl_tui.core.feed import is_url, server_url
from plugrl_tui.core.feed_live import LiveFeed
from plugrl_tui.core.model import DEFAULT_PORT


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("ws://127.0.0.1:8123", "ws://127.0.0.1:8123"),
        ("gpu-box:9000", "ws://gpu-box:9000"),
        ("http://gpu-box", "ws://gpu-box:8000"),
        ("https://gpu-box/", "wss://gpu-box:8000"),
        ("ws://[::1]:8000/monitor", "ws://[::1]:8000"),
    ],
)
def test_an_address_becomes_a_url(text, url):
    assert is_url(text)
    assert server_url(text) == url


@pytest.mark.parametrize(
    "text", ["ftp://x", "ws://", "ws://x:99999", "ws://x:0x", "://", "ws://[::1"]
)
def test_what_is_no_address_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=r"expected a server such as ws://127\.0\.0\.1:8000"):
        server_url(text)


def test_a_key_in_an_address_is_refused_as_others_could_read_it():
    with pytest.raises(UsageError, match="PLUGRL_API_KEY") as refused:
        server_url("ws://user:hunter2@box")
    assert "hunter2" not in str(refused.value)


def test_a_name_is_no_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run:7").mkdir()
    assert not is_url("hopper-s3")
    assert not is_url("run:7")


def test_an_unknown_run_is_named_with_those_that_are_known():
    with pytest.raises(UnknownNameError, match="unknown run 'nope'"):
        attach("nope")


def test_the_key_of_the_environment_is_used(monkeypatch):
    monkeypatch.setenv("PLUGRL_API_KEY", "secret")
    feed = attach("ws://127.0.0.1:1").feed
    assert isinstance(feed, LiveFeed)
    assert feed._access.api_key == "secret"


def test_what_is_known_of_the_configs_without_them_is_right():
    assert server.API_KEY_VARIABLE == API_KEY_VARIABLE
    assert server.ServerConfig().port == client.ClientConfig().server_port == DEFAULT_PORT
