"""Command lines to show to people: how to go on with a run, and how to join it."""

import shlex
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from plugrl.cli.programs import runnable
from plugrl.config.server import API_KEY_VARIABLE, ServerConfig
from plugrl.runs.provenance import SECRET, public
from plugrl.server.auth import is_loopback

CLIENT = "plugrl-run-env-client"
ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 -- what others bound, not what we bind
STARTS = {"--resume", "--no-resume", "--overwrite", "--no-overwrite"}
"""Flags that say how a run begins; of these a resume wants its own."""


def resume_command(typed: Sequence[str], exp_name: str) -> str:
    """What to type to go on with a run; a key in it is left out.

    Args:
        typed: the command that began it, as a person typed it.
        exp_name: the run's name.
    """
    kept = [argument for argument in public(typed) if argument not in STARTS]
    named = any(a == "--exp-name" or a.startswith("--exp-name=") for a in kept)
    kept[0] = runnable(kept[0])
    return shlex.join([*kept, *(() if named else ("--exp-name", exp_name)), "--resume"])


def invitation(url: str, key: str, env: Sequence[str], server: ServerConfig) -> str:
    """What env clients, on any machine, need to know of a server whose key was made for one run.

    Args:
        url: where the server listens.
        key: the key.
        env: the client's env and its flags; empty where nobody named one.
        server: its config.
    """
    client = [*_client(CLIENT, url, env, server), SECRET, key]
    return (
        f"api key made for this run ({API_KEY_VARIABLE} in the server's environment keeps one over "
        f"restarts); clients connect with:\n  {shlex.join(client)}"
    )


def waiting_for_clients(
    url: str, env: Sequence[str], server: ServerConfig, *, has_key: bool
) -> str:
    """How to start env clients of a server that has none of its own.

    Args:
        url: where the server listens.
        env: the client's env and its flags; empty where nobody named one.
        server: its config.
        has_key: whether clients need a key, which whoever starts them knows.
    """
    here = is_loopback(server.host)
    client = _client(runnable(CLIENT) if here else CLIENT, url, env, server)
    where = "on this machine; --host 0.0.0.0 lets others in" if here else "on any machine"
    key = f", with the server's key in {API_KEY_VARIABLE}" if has_key else ""
    return f"env clients are waited for, {where}{key}:\n  {shlex.join(client)}"


def _client(program: str, url: str, env: Sequence[str], server: ServerConfig) -> list[str]:
    trust = [] if server.tls_cert is None else ["--tls-ca", str(server.tls_cert)]
    return [program, *(env or ["ENV"]), "--server-host", reachable(url), *trust]


def reachable(url: str) -> str:
    """A server's URL as other machines know it: of all addresses, by this machine's name."""
    parts = urlsplit(url)
    if parts.hostname not in ANY_ADDRESS:
        return url
    return urlunsplit(parts._replace(netloc=f"{socket.gethostname()}:{parts.port}"))
