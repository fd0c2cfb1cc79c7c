"""Where the Prefect API is that remembers runs: somebody's own, or the local one of this user.

Knows files and HTTP, and nothing of Prefect: ``flows.api`` starts what is found here.
"""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit

from plugrl.errors import RunRecordError, UsageError
from plugrl.runs.fields import from_fields
from plugrl.runs.files import read_json
from plugrl.runs.home import home
from plugrl.runs.liveness import process_is
from plugrl.runs.prefect_profile import Setting, setting

API_VARIABLE = "PREFECT_API_URL"
"""Prefect's own variable, and its setting in profiles: an API that somebody runs already."""
PORT_VARIABLE = "PLUGRL_PREFECT_PORT"
"""Environment variable that moves the local API to another port."""
LOCAL_HOST = "127.0.0.1"
DEFAULT_PORT = 14_200
"""Neither Prefect's own, which others may use, nor near those of training servers."""
HEALTH_TIMEOUT_S = 5.0
SERVER_FILE = "server.json"
VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalServer:
    """The local API's process, as its starter wrote it down."""

    url: str
    pid: int
    pid_started: float
    pid_birth: str | None = None
    """Of the process; see ``plugrl.runs.liveness``."""
    version: int = VERSION


def folder() -> Path:
    """Where the local API keeps its database, its log and its process."""
    return home() / "prefect"


def port() -> int:
    """The local API's port.

    Raises:
        UsageError: the variable holds no port.
    """
    text = os.environ.get(PORT_VARIABLE, str(DEFAULT_PORT))
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise UsageError(f"expected a port, 1 to 65535, got {text!r}, in {PORT_VARIABLE}")
    return int(text)


def local_url(port: int) -> str:
    """The URL of a local API on ``port``."""
    return f"http://{LOCAL_HOST}:{port}/api"


def local_server() -> LocalServer | None:
    """The local API's process, if it is there; it may not answer yet."""
    path = folder() / SERVER_FILE
    try:
        server = from_fields(LocalServer, read_json(path), path)
    except (FileNotFoundError, RunRecordError):
        return None
    return server if is_alive(server) else None


def is_alive(server: LocalServer) -> bool:
    """Whether the local API's process is there."""
    return process_is(server.pid, server.pid_started, server.pid_birth)


def given_api() -> Setting | None:
    """The URL of an API that somebody runs already, from the environment or a Prefect profile."""
    given = setting(API_VARIABLE)
    return None if given is None else given._replace(value=given.value.rstrip("/"))


def known_url() -> str | None:
    """The URL of the API in use, whether it answers or not; None where there is none."""
    if (given := given_api()) is not None:
        return given.value
    server = local_server()
    return None if server is None else server.url


def is_healthy(url: str, timeout_s: float = HEALTH_TIMEOUT_S) -> bool:
    """Whether a Prefect API answers at ``url``."""
    import httpx

    try:
        answer = httpx.get(f"{url}/health", timeout=timeout_s, **reaching(url))
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        return False
    return answer.status_code == httpx.codes.OK and answer.text.strip() == "true"


class Reach(TypedDict):
    """Keyword arguments of httpx's clients."""

    trust_env: bool
    verify: ssl.SSLContext | bool


def reaching(url: str) -> Reach:
    """How httpx gets to ``url``, at no more cost than it takes."""
    # Without TLS no certificates are needed: to read those of all authorities takes longer than
    # a request does. A context without any trusts nobody.
    encrypted = urlsplit(url).scheme == "https"
    return Reach(
        # No proxy stands between this machine and itself.
        trust_env=not is_loopback(url),
        verify=encrypted or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )


def is_loopback(url: str) -> bool:
    """Whether ``url`` is of this machine."""
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}


def ui_url(api_url: str) -> str:
    """The pages that a Prefect server shows of itself."""
    return api_url.rstrip("/").removesuffix("/api")


def flow_run_page(api_url: str, flow_run_id: str) -> str:
    """The page of one flow run."""
    return f"{ui_url(api_url)}/runs/flow-run/{flow_run_id}"
