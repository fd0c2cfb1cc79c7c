"""The usual port, for one launch of a user at a time; others take any free one."""

import contextlib
import fcntl
import logging
import os
import socket

from plugrl.config.server import ServerConfig
from plugrl.runs.home import home

logger = logging.getLogger(__name__)


def choose_port(config: ServerConfig) -> int:
    """The port asked for; 0, for any free one, where it is the usual one and taken."""
    if config.port != ServerConfig().port:
        return config.port
    if _is_free(config) and _is_ours(config.port):
        return config.port
    logger.info("port %d is taken, the server takes a free one", config.port)
    return 0


def _is_free(config: ServerConfig) -> bool:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError:
            return False
    return True


def _is_ours(port: int) -> bool:
    """Whether no other launch is about to bind it: servers take seconds to come up.

    The lock is this process's until it ends.
    """
    # A home that can't be written keeps no launch from starting.
    with contextlib.suppress(OSError):
        home().mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home() / f"port-{port}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
    return True
