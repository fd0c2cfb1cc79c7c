import shlex
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from plugrl.cli.command_lines import invitation, reachable, resume_command
from plugrl.cli.programs import runnable
from plugrl.config.server import ServerConfig


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("p launch a --env b", "p launch a --env b --exp-name x --resume"),
        ("p --exp-name x --overwrite --seed 1", "p --exp-name x --seed 1 --resume"),
        ("p --exp-name=x --resume", "p --exp-name=x --resume"),
        ("p --api-key secret --exp-name x", "p --api-key KEY --exp-name x --resume"),
        ("p --api-key=secret --exp-name x", "p --api-key=KEY --exp-name x --resume"),
    ],
)
def test_a_run_goes_on_by_the_command_that_began_it(typed, again):
    assert resume_command(typed.split(), "x") == again


def test_a_program_that_no_shell_would_find_goes_by_its_path(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert resume_command(["plugrl", "launch"], "x").split()[0] == runnable("plugrl") != "plugrl"


def test_what_the_shell_would_split_is_quoted():
    typed = ["p", "--env.kwargs", '{"a": 1}']
    assert shlex.split(resume_command(typed, "x"))[:3] == typed


def test_all_addresses_are_reached_by_the_machines_name():
    name = socket.gethostname()
    assert reachable("ws://0.0.0.0:8000") == f"ws://{name}:8000"
    assert reachable("wss://[::]:1") == f"wss://{name}:1"
    assert reachable("ws://10.0.0.1:8000") == "ws://10.0.0.1:8000"


def test_an_invitation_is_a_whole_command():
    server = ServerConfig(host="10.0.0.1", port=1)
    hopper = ["hopper", "--env.action-bounds=rescale"]
    named = invitation("ws://10.0.0.1:1", "k", hopper, server)
    assert named.splitlines()[1].strip() == (
        "plugrl-run-env-client hopper --env.action-bounds=rescale "
        "--server-host ws://10.0.0.1:1 --api-key k"
    )
    unnamed = invitation("ws://10.0.0.1:1", "k", [], server)
    assert "plugrl-run-env-client ENV --server-host" in unnamed
    assert "PLUGRL_API_KEY" in unnamed
    secured = replace(server, tls_cert=Path("c.pem"), tls_key=Path("k.pem"))
    assert "--tls-ca c.pem --api-key k" in invitation("wss://10.0.0.1:1", "k", hopper, secured)
