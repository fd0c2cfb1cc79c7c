"""Where a run's news come from: its server, its folder, or neither, for a first look."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from plugrl.errors import PlugRLError, UsageError
from plugrl_tui.core.model import DEFAULT_PORT, RunModel

SCHEMES: Mapping[str, str] = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class FeedError(PlugRLError):
    """A command that can't reach the run's server."""


class Feed(Protocol):
    """Writes into a model for as long as somebody looks."""

    async def run(self, model: RunModel) -> None:
        """Feed ``model`` until cancelled, or until there will be no more news."""

    async def send(self, command: str) -> None:
        """Ask the server to ``save`` or to ``stop``.

        Raises:
            FeedError: it can't be reached.
        """

    def retry_now(self) -> None:
        """Try to connect at once, where the feed is waiting to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What a server may want to know of us."""

    api_key: str | None = None
    tls_ca: Path | None = None
    """A certificate to trust for wss."""


def is_url(target: str) -> bool:
    """Whether a person means a server and not a run: ``ws://…``, ``host:8000``."""
    if "://" in target:
        return True
    host, colon, port = target.rpartition(":")
    return bool(colon and host and port.isdigit() and not Path(target).exists())


def server_url(text: str) -> str:
    """``ws://host:port`` of what a person typed.

    Raises:
        UsageError: it is no address of a server.
    """
    mistake = UsageError(f"expected a server such as ws://127.0.0.1:{DEFAULT_PORT}, got {text!r}")
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
        port = parts.port or DEFAULT_PORT
    except ValueError as error:
        raise mistake from error
    scheme = SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise mistake
    if parts.username or parts.password or parts.query:
        raise UsageError(
            "expected a server's address alone, got more in it; give the key by PLUGRL_API_KEY, "
            "where no list of processes shows it"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{host}:{port}"
