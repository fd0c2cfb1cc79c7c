"""The Prefect API: found, or started on this machine, and left running; imports no Prefect.

One local API serves all runs of a user. It has a session of its own, so that no Ctrl-C reaches it,
and always the same port, so that runs find it again after it was started anew.
"""

import contextlib
import fcntl
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from flows import settings
from plugrl.errors import PlugRLError, UsageError
from plugrl.runs import prefect_api
from plugrl.runs.files import write_json
from plugrl.runs.home import HOME_VARIABLE
from plugrl.runs.liveness import birth_of, started_at
from plugrl.runs.prefect_api import LocalServer

START_TIMEOUT_S = 60.0
"""How long the local API may take until it answers; the first time it makes its database."""
STOP_TIMEOUT_S = 10.0
"""How long it may take to end after SIGTERM, before SIGKILL."""
POLL_S = 0.1
LOG_FILE = "server.log"
MAX_LOG_BYTES = 10_000_000
"""A longer log is put aside when the local API starts."""
SHOWN_LOG_LINES = 3

Say: TypeAlias = Callable[[str], None]
"""Tells a person what happens."""


class ApiUnavailableError(PlugRLError):
    """There is no Prefect API, and none can be started."""


def say_on_stderr(text: str) -> None:
    """What ``Say`` does where nothing else is wanted."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def ensure_api(say: Say = say_on_stderr) -> str | None:
    """Find the API or start it, and have this process and its children use it.

    Returns:
        Its URL; None where there is none, which ``say`` has then been told the reason of.
    """
    try:
        return require_api(say)
    except (PlugRLError, OSError) as error:
        say(f"no Prefect API: {error}; the run goes on without a history there")
        return None


def require_api(say: Say = say_on_stderr) -> str:
    """Find the API or start it; see ``ensure_api``.

    Raises:
        ApiUnavailableError: there is none, and it can't be started.
        UsageError: its port can't be used.
    """
    settings.apply()
    given = prefect_api.given_api()
    if given is not None:
        if not prefect_api.is_healthy(given.value):
            of_profile = given.origin != prefect_api.API_VARIABLE
            remedy = f"; {prefect_api.API_VARIABLE}='' takes the local one" if of_profile else ""
            raise ApiUnavailableError(
                f"expected a Prefect API at {given.value} ({given.origin}), got no answer{remedy}"
            )
        return given.value
    url = start(say)
    settings.use_local(url)
    return url


def start(say: Say = say_on_stderr) -> str:
    """Start the local API unless it is up; returns its URL once it answers.

    Raises:
        ApiUnavailableError: it did not come up, or Prefect is not installed.
        UsageError: its port is held by another program.
    """
    if url := _answering():
        return url
    if importlib.util.find_spec("prefect") is None:
        raise ApiUnavailableError("prefect is not installed: pip install 'plugrl[flows]'")
    with _lock():
        # Somebody else may have started it while we waited for the lock.
        if url := _answering():
            return url
        return _start(say)


def stop() -> bool:
    """End the local API; returns whether there was one."""
    with _lock():
        server = prefect_api.local_server()
        if server is None:
            return False
        # It may end by itself at any moment.
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pid, signal.SIGTERM)
            if not _ends(server):
                os.killpg(server.pid, signal.SIGKILL)
                _ends(server)
        (prefect_api.folder() / prefect_api.SERVER_FILE).unlink(missing_ok=True)
        return True


def _ends(server: LocalServer) -> bool:
    """Whether it ends in time, be it as a zombie: its starter waits for it only when that ends."""
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while prefect_api.is_alive(server):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _answering() -> str | None:
    server = prefect_api.local_server()
    return server.url if server is not None and prefect_api.is_healthy(server.url) else None


def _start(say: Say) -> str:
    server = prefect_api.local_server()
    began = time.monotonic()
    if server is None:
        port = prefect_api.port()
        _require_free(port)
        say(f"starting the local Prefect API on port {port}, which takes some seconds ...")
        server = _spawn(port)
    while not prefect_api.is_healthy(server.url, timeout_s=1.0):
        if not prefect_api.is_alive(server):
            raise ApiUnavailableError(f"the local Prefect API ended at once: {_last_words()}")
        if time.monotonic() - began > START_TIMEOUT_S:
            raise ApiUnavailableError(
                f"expected the local Prefect API to answer within {START_TIMEOUT_S:g} s, it did "
                f"not; see {prefect_api.folder() / LOG_FILE}"
            )
        time.sleep(POLL_S)
    say(f"the local Prefect API is up at {server.url} after {time.monotonic() - began:.1f} s")
    return server.url


def _spawn(port: int) -> LocalServer:
    folder = prefect_api.folder()
    log_file = folder / LOG_FILE
    if log_file.exists() and log_file.stat().st_size > MAX_LOG_BYTES:
        log_file.replace(folder / f"{LOG_FILE}.old")
    with log_file.open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 -- our own command
            [
                *(sys.executable, "-m", "prefect", "server", "start"),
                *("--host", prefect_api.LOCAL_HOST, "--port", str(port)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=settings.server_environment(port),
            start_new_session=True,
        )
    server = LocalServer(
        url=prefect_api.local_url(port),
        pid=process.pid,
        pid_started=started_at(process.pid) or time.time(),
        pid_birth=birth_of(process.pid),
    )
    # Before it answers: whoever starts it must not be the only one who knows of it.
    write_json(folder / prefect_api.SERVER_FILE, server)
    # It outlives this process; nobody waits for it.
    process.returncode = 0
    return server


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        # The port of a server that has just ended is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((prefect_api.LOCAL_HOST, port))
        except OSError as error:
            raise UsageError(
                f"port {port} is held by another program; "
                f"choose another for the local Prefect API with {prefect_api.PORT_VARIABLE}"
            ) from error


def _last_words() -> str:
    path = prefect_api.folder() / LOG_FILE
    lines = path.read_text("utf-8", "replace").split("\n") if path.exists() else []
    words = [line.strip() for line in lines if line.strip()][-SHOWN_LOG_LINES:]
    return f"{' / '.join(words) or 'without a word'} (all of it in {path})"


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """Only one process of this user starts or stops the local API at a time."""
    folder = prefect_api.folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("w")
    except OSError as error:
        raise ApiUnavailableError(
            f"expected a folder for the local Prefect API, got {error.strerror}, at {folder}; "
            f"{HOME_VARIABLE} moves it"
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
