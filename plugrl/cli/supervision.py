"""A server process and its env clients, started and stopped together."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from plugrl.server.signals import EchoFilter
from plugrl.training.tracking.tracker import CLOSE_TIMEOUT_S

logger = logging.getLogger(__name__)

SERVER_GRACE_S = CLOSE_TIMEOUT_S + 15.0
"""How long the server may take to end by itself once the clients have ended in peace: its trackers
may be closing, and a signal would cut them off."""
CLIENTS_GRACE_S = 5.0
"""How long the clients may take to end by themselves once the server has ended in peace."""
FAILED_GRACE_S = 1.0
"""How long one side may take once the other has failed."""
TERM_GRACE_S = 10.0
"""How long the clients may take after SIGTERM, before SIGKILL."""

SIGNAL_EXIT_CODE = 128
"""What shells add to the number of the signal that ended a process."""

ClientArguments = Callable[[str], Sequence[str]]
"""From the server's URL to the arguments of ``run-env-client``."""


async def supervise(
    server_argv: Sequence[str],
    client_argv: ClientArguments,
    env: Mapping[str, str],
    typed: Sequence[str],
) -> int:
    """Run both until the server ends; no process of ours is left then.

    The first SIGINT or SIGTERM stops the server gracefully, the second kills everything.

    Args:
        server_argv: arguments of ``run-server``.
        client_argv: makes those of ``run-env-client``.
        env: environment variables of both, beside this process's.
        typed: the whole command that a person typed, which both speak of.

    Returns:
        The server's exit code, or the clients' where they failed and the server did not.
    """
    stop, listening = asyncio.Event(), asyncio.Event()
    server = await Child.start("run-server", server_argv, env, typed)
    children = [server]
    try:
        with _signals(server, listening, stop):
            url = await server.first_line()
            listening.set()
            if url is None or stop.is_set():
                code = await server.wait()
                if url is None and stop.is_set():
                    logger.warning("stopped before the server was up: nothing was begun")
                return code
            clients = await Child.start("run-env-client", client_argv(url), env, typed)
            children.append(clients)
            return await _until_end(server, clients, stop)
    finally:
        for child in children:
            child.kill()


async def _until_end(server: "Child", clients: "Child", stop: asyncio.Event) -> int:
    server_end, clients_end = (asyncio.create_task(child.wait()) for child in (server, clients))
    await asyncio.wait((server_end, clients_end), return_when=asyncio.FIRST_COMPLETED)
    clients_code = clients_end.result() if clients_end.done() and not stop.is_set() else 0
    if clients_code != 0:
        logger.error("the env clients failed with exit code %d", clients_code)
    if not await _ends(server_end, SERVER_GRACE_S if clients_code == 0 else FAILED_GRACE_S):
        # It saves what there is, and has a limit of its own for that.
        server.signal(signal.SIGTERM)
    server_code = await server_end
    if not await _ends(clients_end, CLIENTS_GRACE_S if server_code == 0 else FAILED_GRACE_S):
        clients.signal(signal.SIGTERM)
        await _ends(clients_end, TERM_GRACE_S)
    clients_end.cancel()
    return server_code or clients_code


async def _ends(end: "asyncio.Task[int]", within_s: float) -> bool:
    await asyncio.wait((end,), timeout=within_s)
    return end.done()


class Child:
    """A process in a group of its own, which ends when this process does."""

    def __init__(self, process: asyncio.subprocess.Process, link: socket.socket) -> None:
        """Hold the process and our end of its link; see ``plugrl.cli.child``."""
        self._process = process
        self._link = link

    @classmethod
    async def start(
        cls, name: str, argv: Sequence[str], env: Mapping[str, str], typed: Sequence[str]
    ) -> "Child":
        """Start ``plugrl NAME ARGV``, which speaks of itself as of ``typed``."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "plugrl.cli.child", str(theirs.fileno()), json.dumps(typed), name, *argv),
                env={**os.environ, **env},
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        return cls(process, ours)

    async def first_line(self) -> str | None:
        """What the child says first; None if it ends without a word."""
        self._link.settimeout(0)
        line = b""
        while not line.endswith(b"\n"):
            received = await asyncio.get_running_loop().sock_recv(self._link, 4096)
            if not received:
                return None
            line += received
        return line.decode().strip()

    async def wait(self) -> int:
        """The exit code; 128 and the signal's number where a signal ended it."""
        code = await self._process.wait()
        return code if code >= 0 else SIGNAL_EXIT_CODE - code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def kill(self) -> None:
        """End the child and all that it has started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._link.close()


@contextlib.contextmanager
def _signals(server: Child, listening: asyncio.Event, stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    echo = EchoFilter()

    def pass_on(number: signal.Signals) -> None:
        if echo.is_echo():
            return
        # The server leaves at once on the second signal, and we follow it. While it still imports
        # its modules, SIGINT would be a traceback.
        server.signal(number if listening.is_set() else signal.SIGTERM)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, pass_on, number)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
