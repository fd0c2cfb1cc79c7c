"""The usual port, for one launch on this machine at a time; others take any free one."""

import logging
import socket

from plugrl.config.server import ServerConfig

logger = logging.getLogger(__name__)

_reserved: list[socket.socket] = []
"""Held until this process ends."""


def choose_port(config: ServerConfig) -> int:
    """The port asked for; 0, for any free one, where it is the usual one and taken."""
    if config.port != ServerConfig().port:
        return config.port
    if is_free(config) and _is_ours(config):
        return config.port
    logger.info("port %d is taken, the server takes a free one", config.port)
    return 0


def is_free(config: ServerConfig) -> bool:
    """Whether a server could listen at that address and port now."""
    with socket.socket(_family(config)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError:
            return False
    return True


def _is_ours(config: ServerConfig) -> bool:
    """Whether no other launch is about to bind it, whoever's: servers take seconds to come up.

    The UDP port of that number, which no server of ours uses, stands for it: held by one process
    on the machine at a time, whatever its user and its home, and free again when that one ends.
    """
    mark = socket.socket(_family(config), socket.SOCK_DGRAM)
    try:
        mark.bind((config.host, config.port))
    except OSError:
        mark.close()
        return False
    _reserved.append(mark)
    return True


def _family(config: ServerConfig) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in config.host else socket.AF_INET
