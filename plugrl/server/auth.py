"""Who may connect: keys compared in constant time, and none needed on loopback."""

import hmac
import ipaddress
import os
import secrets

from plugrl.config.server import API_KEY_VARIABLE, ServerConfig

SCHEME = "Api-Key"
"""Of the Authorization header, as the wire protocol has it."""


class Gate:
    """Decides by the Authorization header and by the address a peer comes from."""

    def __init__(self, config: ServerConfig) -> None:
        """Take the key of the config or of the environment, or make one where one is needed."""
        key = config.api_key or os.environ.get(API_KEY_VARIABLE) or None
        self.made_key = key is None and config.auth and not is_loopback(config.host)
        """Whether the key was made here, so that somebody must be shown it."""
        # Hexadecimal, as a key that began with a dash would look like a flag.
        self.key = secrets.token_hex(24) if self.made_key else key

    def admits(self, authorization: str | None) -> bool:
        """Whether a peer with this header may connect."""
        if self.key is None:
            return True
        scheme, _, given = (authorization or "").partition(" ")
        # Headers come decoded as ISO-8859-1, whatever bytes they are of.
        return hmac.compare_digest(
            f"{scheme.lower()} {given.strip()}".encode("iso-8859-1"),
            f"{SCHEME.lower()} {self.key}".encode(),
        )

    def may_command(self, peer_host: str) -> bool:
        """Whether an admitted viewer from this address may save and stop."""
        return self.key is not None or is_loopback(peer_host)


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
