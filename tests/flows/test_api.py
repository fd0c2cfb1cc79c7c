import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest

from flows import api
from plugrl.errors import UsageError
from plugrl.runs import files
from plugrl.runs import prefect_api as addresses
from plugrl.runs.prefect_api import LocalServer
from tests.shared_api import copy_database

ROOT = Path(__file__).parents[2]


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    """A home without an API."""
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path))
    monkeypatch.delenv(addresses.API_VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def stranger(monkeypatch):
    """A program that holds our port, and answers like no Prefect API."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv(addresses.PORT_VARIABLE, str(server.server_port))
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()
        thread.join()


def test_the_local_api_answers_and_has_a_session_of_its_own(prefect_api):
    server = addresses.local_server()
    assert server is not None
    assert server.url == prefect_api
    assert addresses.is_healthy(prefect_api)
    assert os.getsid(server.pid) == server.pid != os.getsid(0)
    assert addresses.folder().joinpath("prefect.db").exists()


def test_its_pages_ask_the_api_where_it_is(prefect_api):
    import httpx

    shown = httpx.get(f"{addresses.ui_url(prefect_api)}/ui-settings", trust_env=False).json()
    assert shown["api_url"] == prefect_api


def test_who_comes_later_finds_it_and_says_nothing(prefect_api, monkeypatch):
    monkeypatch.delenv(addresses.API_VARIABLE)
    said: list[str] = []
    assert api.ensure_api(said.append) == prefect_api
    assert said == []
    assert os.environ[addresses.API_VARIABLE] == prefect_api
    assert os.environ["PREFECT_HOME"] == str(addresses.folder())


def test_starting_it_in_several_processes_at_once_starts_one(
    prefect_api, tmp_path, monkeypatch, free_port
):
    copy_database(tmp_path)
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path))
    monkeypatch.delenv(addresses.API_VARIABLE)
    port = free_port()
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(port))
    gone = killed_server(port)
    code = "from flows import api; print(api.start(lambda text: None))"

    def start(_: int) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        return done.stdout.strip()

    try:
        with ThreadPoolExecutor() as pool:
            urls = list(pool.map(start, range(3)))
        # On the port that it had before, so that runs find it again.
        assert urls == [gone.url] * 3
        again = addresses.local_server()
        assert again is not None
        assert again.pid != gone.pid
        servers = [
            process
            for process in psutil.process_iter(["cmdline"])
            if (line := process.info["cmdline"]) and "server" in line and str(port) in line
        ]
        assert [process.pid for process in servers] == [again.pid]
    finally:
        assert api.stop() is True


def killed_server(port: int) -> LocalServer:
    """What a local API leaves that was killed: a process that is gone, in a file that is not."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = psutil.Process(process.pid).create_time()
    process.kill()
    process.communicate()
    server = LocalServer(url=addresses.local_url(port), pid=process.pid, pid_started=started)
    files.write_json(addresses.folder() / addresses.SERVER_FILE, server)
    return server


def test_there_is_none_to_stop_where_none_was_started(own_home):
    assert api.stop() is False


def test_an_api_that_somebody_names_is_taken_if_it_answers(own_home, prefect_api, monkeypatch):
    monkeypatch.setenv(addresses.API_VARIABLE, f"{prefect_api}/")
    assert api.ensure_api() == prefect_api


def test_an_api_that_somebody_names_and_that_is_away_is_one_sentence(own_home, monkeypatch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/api"
        monkeypatch.setenv(addresses.API_VARIABLE, url)
        said: list[str] = []
        assert api.ensure_api(said.append) is None
    (sentence,) = said
    assert sentence == (
        f"no Prefect API: expected a Prefect API at {url} (PREFECT_API_URL), got no answer; "
        "the run goes on without a history there"
    )


def test_a_port_that_a_stranger_holds_is_one_sentence_with_the_remedy(own_home, stranger):
    assert not addresses.is_healthy(stranger)
    with pytest.raises(UsageError, match=r"is held by another program; choose another .*PORT"):
        api.start()


@pytest.mark.parametrize("port", ["", "http", "0", "65536", "-1"])
def test_a_port_that_is_none_is_refused(own_home, monkeypatch, port):
    monkeypatch.setenv(addresses.PORT_VARIABLE, port)
    with pytest.raises(UsageError, match="expected a port, 1 to 65535"):
        api.start()


def test_an_api_that_ends_at_once_says_why(own_home, monkeypatch, tmp_path):
    broken = tmp_path / "prefect.py"
    broken.write_text("raise SystemExit('no such database')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(port))
    with pytest.raises(api.ApiUnavailableError, match=r"ended at once: no such database"):
        api.start(lambda text: None)


DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""


def test_an_api_that_never_answers_is_given_up_and_can_be_killed(
    own_home, monkeypatch, tmp_path, free_port
):
    (tmp_path / "prefect.py").write_text(DEAF)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(free_port()))
    monkeypatch.setattr(api, "START_TIMEOUT_S", 0.0)
    with pytest.raises(api.ApiUnavailableError, match="expected the local Prefect API to answer"):
        api.start(lambda text: None)
    server = addresses.local_server()
    assert server is not None
    log = addresses.folder() / api.LOG_FILE
    deadline = time.monotonic() + 60
    while "deaf" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    monkeypatch.setattr(api, "STOP_TIMEOUT_S", 1.0)
    assert api.stop() is True
    assert addresses.local_server() is None
    assert not addresses.is_alive(server)


STARTER = """
import signal
from flows import api

api.START_TIMEOUT_S = 0.0
try:
    api.start(lambda text: None)
except api.ApiUnavailableError:
    print("started", flush=True)
    signal.pause()
"""


def test_it_can_be_stopped_while_the_process_that_started_it_goes_on(
    own_home, monkeypatch, tmp_path, free_port
):
    (tmp_path / "prefect.py").write_text("import time; time.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(free_port()))
    command = [sys.executable, "-c", STARTER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == "started\n"
        server = addresses.local_server()
        assert server is not None
        try:
            assert api.stop() is True
            # Its parent has not waited for it.
            assert psutil.Process(server.pid).status() == psutil.STATUS_ZOMBIE
            assert addresses.local_server() is None
        finally:
            starter.kill()


def test_a_pid_of_another_process_in_the_file_is_no_server(own_home):
    addresses.folder().mkdir()
    file = addresses.folder() / addresses.SERVER_FILE
    file.write_text(
        json.dumps({"version": 1, "url": "http://x/api", "pid": os.getpid(), "pid_started": 1.0})
    )
    assert addresses.local_server() is None
    assert api.stop() is False


def test_finding_the_api_imports_no_prefect():
    code = "import sys, flows.api; print({'prefect', 'torch', 'httpx'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "set()\n"


def test_a_long_log_is_put_aside_when_the_api_starts(own_home, monkeypatch, tmp_path, free_port):
    monkeypatch.setenv(addresses.PORT_VARIABLE, str(free_port()))
    (tmp_path / "prefect.py").write_text("raise SystemExit('no such database')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(api, "MAX_LOG_BYTES", 3)
    log = addresses.folder() / api.LOG_FILE
    log.parent.mkdir()
    log.write_text("long")
    with pytest.raises(api.ApiUnavailableError):
        api.start(lambda text: None)
    assert log.with_name(f"{api.LOG_FILE}.old").read_text() == "long"
    assert "no such database" in log.read_text()


def test_the_api_of_a_persons_own_profile_is_used_and_none_is_started(
    prefect_api, own_home, monkeypatch, free_port
):
    monkeypatch.setenv("PREFECT_HOME", str(own_home))
    monkeypatch.delenv("PREFECT_PROFILES_PATH", raising=False)
    profiles = own_home / "profiles.toml"
    text = 'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{}"\n'
    profiles.write_text(text.format(prefect_api))
    assert api.require_api() == prefect_api
    assert addresses.local_server() is None
    profiles.write_text(text.format(f"http://127.0.0.1:{free_port()}/api"))
    said: list[str] = []
    assert api.ensure_api(said.append) is None
    assert "(PREFECT_API_URL of your Prefect profile 'mine'), got no answer; " in said[0]
    assert addresses.local_server() is None
