"""The command: text where there is no terminal, sentences where something can't be done."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Origin

from plugrl.cli import entry
from plugrl.runs.liveness import own_start, this_host
from plugrl.runs.records import RunState, RunStatus, write_status
from plugrl_tui import cli
from plugrl_tui.core.curves import RETURN
from tests.server.conftest import Scripted, running
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")
ALL_STEPS: dict[str, Any] = {"step": 1000, "total_steps": 1000}


def test_without_a_terminal_the_runs_are_a_table(tmp_path, capsys):
    assert cli.run([]) == 0
    assert "no runs yet" in capsys.readouterr().out
    make_run(tmp_path, "hopper-s1", **ALL_STEPS)
    assert cli.run(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["state", "run", "policy/algorithm", "step", "url"]
    assert lines[1].split() == ["DONE", "hopper-s1", "gaussian-policy/ppo", "1k/1k"]


def test_runs_as_json_are_for_scripts(tmp_path, capsys):
    folder = make_run(tmp_path, "hopper-s1", **ALL_STEPS)
    assert cli.run(["runs", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert (run["name"], run["state"], run["path"]) == ("hopper-s1", "DONE", str(folder))
    assert (run["step"], run["env"]) == (1000, "hopper")


def test_a_damaged_run_is_named_beside_the_table(tmp_path, capsys):
    (make_run(tmp_path, "hopper-s1", **ALL_STEPS) / "run.json").write_text("{")
    assert cli.run(["runs"]) == 0
    assert "run.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "code"), [(RunState.DONE, 0), (RunState.STOPPED, 0), (RunState.FAILED, 1)]
)
def test_watching_a_run_that_is_over_says_so_and_ends_with_its_code(tmp_path, capsys, state, code):
    folder = make_run(tmp_path, "hopper-s1", state=state, reason="because", **ALL_STEPS)
    (folder / "metrics.jsonl").write_text(
        json.dumps({"step": 1000, RETURN: 12.0, "time": 1}) + "\n"
    )
    assert cli.run(["watch", "hopper-s1", "--plain"]) == code
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == f"hopper-s1 | {state} | step 1k/1k | return 12.0 | because"


@pytest.mark.integration
async def test_a_live_run_is_watched_until_it_is_stopped(tmp_path):
    async with running(Scripted()) as up:
        me: dict[str, Any] = {"host": this_host(), "pid": os.getpid(), "pid_started": own_start()}
        folder = make_run(tmp_path, "hopper-s1", state=RunState.RUNNING, url=up.url, **me)
        command = [sys.executable, "-m", "plugrl_tui", "watch", str(folder), "--every", "0.1"]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        async with asyncio.timeout(60):
            while b"WAITING" not in (line := await process.stdout.readline()):
                assert line, "it ended"
            write_status(folder, RunStatus(state=RunState.STOPPED, reason="stopped on request"))
            up.server.request_stop()
            assert await process.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["attach", "nope"], "unknown run 'nope'"),
        (["watch", "ws://x:99999", "--plain"], "expected a server such as"),
        (["attach", "x:1", "--key-file", "/no/such/key"], "No such file"),
    ],
)
def test_what_can_t_be_done_is_one_sentence(arguments, sentence, capsys):
    assert cli.run(arguments) in {entry.EXIT_USAGE, entry.EXIT_FAILED}
    error = capsys.readouterr().err
    assert error.startswith("plugrl-tui: error: ")
    assert sentence in error
    assert error.count("\n") == 1


def test_a_key_that_others_can_read_is_refused_and_never_shown(tmp_path, capsys):
    key = tmp_path / "key"
    key.write_text("hunter2\n")
    key.chmod(0o644)
    assert cli.run(["attach", "x:1", "--key-file", str(key)]) == entry.EXIT_USAGE
    error = capsys.readouterr().err
    assert f"chmod 600 {key}" in error
    assert "hunter2" not in error
    key.chmod(0o600)
    assert cli._key_in(key) == "hunter2"


def test_a_key_file_that_is_no_text_is_a_sentence(tmp_path, capsys):
    key = tmp_path / "key"
    key.write_bytes(b"\xff\xfe")
    key.chmod(0o600)
    assert cli.run(["attach", "x:1", "--key-file", str(key)]) == entry.EXIT_USAGE
    assert f"at {key}" in capsys.readouterr().err


def test_doctor_takes_every_theme_that_the_app_takes(own_home, capsys):
    own_home.mkdir()
    (own_home / "tui.json").write_text('{"theme": "nord"}')
    cli.run(["doctor"])
    assert "✓ settings" in capsys.readouterr().out


def test_doctor_says_what_works_and_names_what_does_not(tmp_path, capsys, monkeypatch):
    assert cli.run(["doctor"]) == 0
    assert "✓ textual" in capsys.readouterr().out
    (make_run(tmp_path, "hopper-s1", **ALL_STEPS) / "run.json").unlink()
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    assert cli.run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "✗ run " in out
    assert "✗ history" in out


def test_doctor_says_that_nothing_can_be_written_at_home(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "file" / "home"))
    assert cli.run(["doctor"]) == 1
    assert "can't be written (Not a directory): give PLUGRL_HOME another" in capsys.readouterr().out


def test_a_taken_port_is_a_sentence(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert cli.run(["serve", "--port", str(port)]) == entry.EXIT_USAGE
    assert "take another --port" in capsys.readouterr().err


def test_help_is_as_pinned(monkeypatch, capsys, golden):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    for command in ([], ["attach"], ["watch"], ["runs"], ["doctor"], ["serve"]):
        with pytest.raises(SystemExit, match="0"):
            cli.run([*command, "--help"])
    golden("help.txt", capsys.readouterr().out)


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(own_home: Path, port: int) -> Iterator[psutil.Process]:
    """The process that serves the page, once the page is there."""
    command = [sys.executable, "-m", "plugrl_tui", "serve", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 60
            while not page_at(port):
                assert time.monotonic() < deadline
                assert server.poll() is None
            yield psutil.Process(server.pid)
        finally:
            server.terminate()


def page_at(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


@pytest.mark.integration
def test_the_page_is_served_on_this_machine_only(served, port):
    assert "plugrl" in page_at(port)
    listening = [c for c in served.net_connections() if c.status == "LISTEN"]
    assert {c.laddr.ip for c in listening} == {"127.0.0.1"}


@pytest.mark.integration
def test_a_page_shows_the_app_takes_keys_and_does_not_keep_the_server(served, port):
    url = f"ws://127.0.0.1:{port}/ws?width=80&height=24"
    with connect(url, origin=Origin(f"http://127.0.0.1:{port}"), proxy=None) as page:
        shown_on(page, "no runs yet")
        page.send('["stdin", "n"]')
        shown_on(page, "what to train")
        served.terminate()
        served.wait(30)


def shown_on(page: Connection, words: str) -> None:
    """Read what a page is sent until it shows ``words``, letter by letter or as a whole."""
    seen = ""
    while words.replace(" ", "") not in seen:
        data = page.recv(60)
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\s", "", text)


@pytest.mark.integration
@pytest.mark.usefixtures("served")
def test_the_app_in_a_browser_obeys_its_own_page_and_no_other(port):
    url = f"ws://127.0.0.1:{port}/ws"
    for origin in (None, Origin("http://evil.example"), Origin(f"http://evil.example:{port}")):
        with pytest.raises(InvalidStatus, match="403"):
            connect(url, origin=origin, proxy=None)
    for host in ("127.0.0.1", "localhost"):
        with connect(url, origin=Origin(f"http://{host}:{port}"), proxy=None) as page:
            page.send('["ping", 7]')
            assert json.loads(page.recv(30)) == ["pong", 7]
