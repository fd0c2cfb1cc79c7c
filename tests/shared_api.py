"""One Prefect API for all workers of a test run: the first starts it, the last one ends it.

It makes its database when it starts, which takes longer than all that is asked of it then.
"""

import contextlib
import fcntl
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from flows import api, settings
from plugrl.runs import prefect_api as addresses


def unused_port() -> int:
    """A port that nobody holds at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Patient(httpx.HTTPTransport):
    """Asks again while the database is busy for another worker, as Prefect's own client does."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer; the refusal, after ten seconds of them."""
        never = threading.Event()
        for _ in range(100):
            answer = super().handle_request(request)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                return answer
            answer.close()
            never.wait(0.1)
        return super().handle_request(request)


def client_of(api_url: str) -> httpx.Client:
    """A client of the shared API, for what a test asks of it directly."""
    transport = Patient(verify=addresses.reaching(api_url)["verify"])
    return httpx.Client(base_url=api_url, transport=transport, timeout=30)


@contextlib.contextmanager
def using_api(shared: Path) -> Iterator[str]:
    """The URL of the API with its files in ``shared``, which this process and its children use."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    shared.mkdir(exist_ok=True)
    # To this process's home it is the local API like any other.
    addresses.folder().symlink_to(shared)
    with pytest.MonkeyPatch.context() as patch, (shared / "users").open("w") as users:
        for name in settings.CLIENT:
            patch.setenv(name, os.environ.get(name, settings.CLIENT[name]))
        patch.delenv(addresses.API_VARIABLE, raising=False)
        patch.setenv(addresses.PORT_VARIABLE, _agreed_port(shared))
        patch.setenv("PREFECT_HOME", str(addresses.folder()))
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            url = api.start()
            patch.setenv(addresses.API_VARIABLE, url)
            # Prefect, imported by some test's module before, has read its settings already.
            with temporary_settings({PREFECT_API_URL: url}):
                yield url
        finally:
            # Refused while others hold it; in any case our part of it is given up.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                api.stop()


def _agreed_port(shared: Path) -> str:
    """The port that whoever came first has chosen."""
    own = shared / f"port.{os.getpid()}"
    own.write_text(str(unused_port()))
    with contextlib.suppress(FileExistsError):
        os.link(own, shared / "port")
    return (shared / "port").read_text()


def copy_database(home: Path) -> None:
    """Give the local API of another ``home`` a database that is made already."""
    target = home / "prefect"
    target.mkdir()
    with (
        contextlib.closing(sqlite3.connect(addresses.folder() / "prefect.db")) as made,
        contextlib.closing(sqlite3.connect(target / "prefect.db")) as copy,
    ):
        made.backup(copy)
