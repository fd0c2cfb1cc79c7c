"""Keys are needed off loopback, and compared whole."""

import pytest

from plugrl.config.server import ServerConfig
from plugrl.server.auth import Gate, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_loopback_needs_no_key(host):
    gate = Gate(ServerConfig(host=host))
    assert gate.key is None
    assert gate.admits(None)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "::", "gpu-box"])
def test_any_other_address_makes_a_key_of_its_own(host):
    gate = Gate(ServerConfig(host=host))
    assert gate.made_key
    assert not gate.admits(None)
    assert gate.admits(f"Api-Key {gate.key}")
    assert Gate(ServerConfig(host=host)).key != gate.key


def test_no_auth_is_an_explicit_choice_and_viewers_from_afar_then_only_watch():
    gate = Gate(ServerConfig(host="0.0.0.0", auth=False))
    assert gate.admits(None)
    assert not gate.may_command("192.168.1.9")
    assert gate.may_command("127.0.0.1")


def test_the_key_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PLUGRL_API_KEY", "sesame")
    gate = Gate(ServerConfig())
    assert not gate.made_key
    assert gate.admits("Api-Key sesame")
    assert gate.admits("api-key sesame")
    assert not gate.admits("Api-Key sesam")
    assert not gate.admits("Bearer sesame")
    assert not gate.admits("Api-Key sésame")


def test_a_host_name_is_not_taken_for_loopback():
    assert not is_loopback("localhost.example.com")


@pytest.mark.parametrize("key", ["k", "schlüssel", "ключ"])
def test_a_key_of_any_script_is_compared_as_the_bytes_on_the_wire(key):
    gate = Gate(ServerConfig(api_key=key))
    assert gate.admits(f"Api-Key {key}".encode().decode("iso-8859-1"))
    assert not gate.admits("Api-Key \xff")
