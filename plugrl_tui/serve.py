"""``plugrl-tui serve``: the app in a browser, on this machine only."""

import shlex
import socket
import sys
from collections.abc import Sequence

from plugrl.errors import UsageError

HOST = "127.0.0.1"
"""Whoever sees the page can start and stop runs, so it is never served to other machines."""


def serve(port: int, imports: Sequence[str] = ()) -> int:
    """Serve until Ctrl-C; runs go on afterwards.

    Args:
        port: where.
        imports: modules that register more names, for new runs.

    Raises:
        UsageError: the port is taken, or textual-serve is not installed.
    """
    try:
        from plugrl_tui.page_server import PageServer
    except ImportError as error:
        raise UsageError("expected textual-serve: pip install 'plugrl[tui]'") from error
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"can't listen on {HOST}:{port}: {error}; take another --port"
            ) from error
    words = [sys.executable, "-m", "plugrl_tui", *(f"--import={module}" for module in imports)]
    PageServer(shlex.join(words), host=HOST, port=port, title="plugrl").serve()
    return 0
