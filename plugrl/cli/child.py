"""One child of ``plugrl launch``: a command that ends when its launcher does.

    python -m plugrl.cli.child DESCRIPTOR TYPED run-server|run-env-client ARGUMENTS...

``DESCRIPTOR`` is a socket to the launcher, ``TYPED`` a JSON list: the launcher's own command. A
server writes its URL to the socket once it listens. When the launcher's end closes, for whatever
reason and SIGKILL too, the child asks itself to stop.
"""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence

from plugrl.cli import run_env_client, run_server
from plugrl.cli.entry import Command, run_guarded


def main() -> int:
    """Run the command; returns its exit code."""
    descriptor, typed_json, name, *argv = sys.argv[1:]
    typed = json.loads(typed_json)
    launcher = socket.socket(fileno=int(descriptor))
    threading.Thread(target=_follow, args=(launcher,), daemon=True).start()

    def serve(arguments: Sequence[str], prog: str) -> int:
        return run_server.run(
            arguments,
            prog,
            typed=typed,
            on_listening=lambda url: launcher.sendall(f"{url}\n".encode()),
        )

    commands: dict[str, Command] = {"run-server": serve, "run-env-client": run_env_client.run}
    return run_guarded(commands[name], argv, " ".join(typed[:2]))


def _follow(launcher: socket.socket) -> None:
    while launcher.recv(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
