"""One child of a supervisor: a command that ends when its supervisor does.

    python -m plugrl.cli.child DESCRIPTOR PROVENANCE run-server|run-env-client ARGUMENTS...

``DESCRIPTOR`` is a socket to the supervisor, ``PROVENANCE`` the JSON of ``plugrl.runs.provenance``.
A server writes news to the socket, one JSON object a line: ``{"listening": URL}`` once clients can
connect, ``{"failed": SENTENCE}`` before it ends for a reason. When the supervisor's end closes, for
whatever reason and SIGKILL too, the child asks itself to stop.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from plugrl.cli import run_env_client
from plugrl.cli.entry import EXIT_STOPPED, Command, run_guarded
from plugrl.cli.run_server import Order, read_order
from plugrl.errors import PlugRLError
from plugrl.runs.provenance import Provenance
from plugrl.server.loop import StopReason


class Link:
    """The way to the supervisor."""

    def __init__(self, descriptor: int) -> None:
        """Follow the socket ``descriptor`` until the supervisor's end closes."""
        self.stop: Callable[[], None] = _terminate
        """What is done then; a server puts a stop in its place that may come twice."""
        self._socket = socket.socket(fileno=descriptor)
        threading.Thread(target=self._follow, daemon=True).start()

    def tell(self, **news: str) -> None:
        """Send news, unless nobody is there to hear them."""
        with contextlib.suppress(OSError):
            self._socket.sendall(f"{json.dumps(news)}\n".encode())

    def listening(self, url: str) -> None:
        """Tell where clients can connect."""
        self.tell(listening=url)

    def _follow(self) -> None:
        with contextlib.suppress(OSError):
            while self._socket.recv(1):
                pass
        self.stop()


Serve: TypeAlias = Callable[[Order, Link], StopReason]
"""Serves an order until it is finished or stopped."""


def serve(order: Order, link: Link) -> StopReason:
    """Serve, and nothing else."""
    training_run = order.build()
    link.stop = training_run.server.request_stop
    return asyncio.run(order.serve(training_run, link.listening))


def main(serve: Serve = serve) -> int:
    """Run the command that the process's arguments name, a server by ``serve``; its exit code."""
    descriptor, provenance_json, name, *argv = sys.argv[1:]
    provenance = Provenance.from_json(provenance_json)
    link = Link(int(descriptor))

    def run_server(arguments: Sequence[str], prog: str) -> int:
        try:
            order = read_order(arguments, prog, provenance)
            assert order is not None, "a supervisor asks for no help"
            return EXIT_STOPPED if serve(order, link) is StopReason.STOPPED else 0
        except Exception as error:
            link.tell(failed=_sentence(error))
            raise

    commands: dict[str, Command] = {"run-server": run_server, "run-env-client": run_env_client.run}
    return run_guarded(commands[name], argv, " ".join(provenance.argv[:2]))


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, PlugRLError) else f"{type(error).__name__}: {error}"


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
