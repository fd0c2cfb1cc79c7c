"""Whoever is told to end, or is killed, leaves no process behind."""

import signal

import psutil
import pytest

from tests.integration.conftest import Program, serve

pytestmark = pytest.mark.integration

ENDLESS = (
    *("dummy-policy", "default", "dummy", "debug", "--algo.global-steps", "1e9"),
    # At a pace that leaves the machine to others.
    *("--algo.fake-inference-duration-sec", "0.002"),
)
ENV = "dummy-v1"


def _ends(program: Program) -> tuple[int, str]:
    """The exit code and the output of a program that has been told to end, with all of its own."""
    family = program.family()
    ending = program.finish()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    return ending


def test_the_parent_of_clients_takes_them_along(start):
    server, port = serve(start, *ENDLESS)
    for turn, (number, expected) in enumerate(
        ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)), start=1
    ):
        clients = start("run-env-client", ENV, "--num-procs", "2", "--server-port", port)
        server.wait_for(r"joined, 2 connected", count=turn)
        clients.process.send_signal(number)
        code, output = _ends(clients)
        assert code == expected, output
        server.wait_for(r"left, 0 connected", count=turn)


def test_clients_outlive_a_killed_server_and_end_with_the_next_one(start):
    server, port = serve(start, *ENDLESS)
    clients = start("run-env-client", ENV, "--server-port", port, "--retry-max-s", "0.5")
    server.wait_for(r"joined, 1 connected")
    server.process.kill()
    assert server.finish()[0] == -signal.SIGKILL
    clients.wait_for("connecting again in")
    next_server = start("run-server", *ENDLESS, "--algo.global-steps", "64", "--port", port)
    assert next_server.finish()[0] == 0
    code, output = _ends(clients)
    assert code == 0, output
