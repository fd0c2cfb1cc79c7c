"""One child of a supervisor: a command that ends when its supervisor does.

    python -m plugrl.cli.child DESCRIPTOR PROVENANCE run-server|run-env-client ARGUMENTS...
    python -m plugrl.cli.child DESCRIPTOR --warm run-server UIDS...

``DESCRIPTOR`` is a socket to the supervisor, ``PROVENANCE`` the JSON of ``plugrl.runs.provenance``.
The second form gets all that comes after ``DESCRIPTOR`` over the socket. A server writes news to
it, one JSON object a line: ``{"listening": URL}`` once clients can connect, ``{"stopping": true}``
once somebody has asked it to stop, ``{"concluded": "done"}`` or ``"stopped"`` once nothing is left
to save (before it listens, where nothing is left to train), ``{"failed": SENTENCE}`` before it ends
for a reason. When the supervisor's end closes, for whatever reason and SIGKILL too, the child asks
itself to stop.
"""

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
from plugrl.cli.child_process import WARM
from plugrl.cli.entry import EXIT_STOPPED, Command, run_guarded
from plugrl.cli.run_server import Order, read_order
from plugrl.errors import PlugRLError
from plugrl.runs.provenance import Provenance
from plugrl.server import event_loop
from plugrl.server.loop import StopReason

MAX_NEWS_CHARS = 2000
"""Longest sentence that is told: the supervisor reads line by line, and shows it on one."""


class Link:
    """The way to the supervisor."""

    def __init__(self, descriptor: int) -> None:
        """Hold the socket ``descriptor``."""
        self.stop: Callable[[], None] = _terminate
        """What is done then; a server puts a stop in its place that may come twice."""
        self._socket = socket.socket(fileno=descriptor)

    def wait_for_order(self) -> tuple[dict[str, str], list[str]]:
        """Environment variables and arguments, to be waited for before ``follow``.

        Raises:
            EOFError: the supervisor has ended without any.
        """
        with self._socket.makefile("rb") as lines:
            line = lines.readline()
        if not line:
            raise EOFError
        variables, arguments = json.loads(line)
        return variables, arguments

    def follow(self) -> None:
        """Have ``stop`` done when the supervisor's end closes."""
        threading.Thread(target=self._follow, daemon=True).start()

    def tell(self, **news: str | bool) -> None:
        """Send news, unless nobody is there to hear them."""
        with contextlib.suppress(OSError):
            self._socket.sendall(f"{json.dumps(news)}\n".encode())

    def listening(self, url: str) -> None:
        """Tell where clients can connect."""
        self.tell(listening=url)

    def stopping(self) -> None:
        """Tell that somebody, a viewer for instance, has asked for a stop."""
        self.tell(stopping=True)

    def concluded(self, reason: StopReason) -> None:
        """Tell that the loop has ended, and that nothing is left to save."""
        self.tell(concluded="stopped" if reason is StopReason.STOPPED else "done")

    def _follow(self) -> None:
        with contextlib.suppress(OSError):
            while self._socket.recv(1):
                pass
        self.stop()


Serve: TypeAlias = Callable[[Order, Link], StopReason]
"""Serves an order until it is finished or stopped."""
WarmUp: TypeAlias = Callable[[Sequence[str]], None]
"""Imports what a server with these uids will need."""


def serve(order: Order, link: Link) -> StopReason:
    """Serve, and nothing else."""
    training_run = order.build()
    link.stop = training_run.server.request_stop
    return event_loop.run(order.serve(training_run, link.listening, link.concluded, link.stopping))


def main(serve: Serve = serve, warm_up: WarmUp = lambda uids: None) -> int:
    """Run the command that the process's arguments name.

    Args:
        serve: serves, if the command is ``run-server``.
        warm_up: makes a spare process ready for a server with these uids; then it waits for its
            arguments.

    Returns:
        The exit code.
    """
    descriptor, *arguments = sys.argv[1:]
    link = Link(int(descriptor))
    if tuple(arguments[: len(WARM)]) == WARM:
        warm_up(arguments[len(WARM) :])
        try:
            variables, arguments = link.wait_for_order()
        except EOFError:
            return 0
        os.environ.update(variables)
    link.follow()
    provenance_json, name, *argv = arguments
    provenance = Provenance.from_json(provenance_json)

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
    known = isinstance(error, PlugRLError)
    sentence = str(error) if known else f"{type(error).__name__}: {error}"
    return sentence[:MAX_NEWS_CHARS]


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
