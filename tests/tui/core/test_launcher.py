"""A run that the app starts is nobody's child: it outlives whoever started it."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from plugrl.runs.liveness import process_is
from plugrl.runs.records import RunState, read_run, read_status
from plugrl_tui.core import launcher
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.stages import Progress
from plugrl_tui.core.starting import Start

pytestmark = pytest.mark.integration
DEADLINE_S = 120.0


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draft:
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    names = Names(
        policy="dummy-policy", algorithm="dummy", algorithm_variant="default", env="dummy-v1:state"
    )
    texts = {
        "flow.prefect": "false",
        "run.checkpoint_base_dir": str(tmp_path / "ckpt"),
        "run.exp_name": "mine",
        "clients.num_envs": "2",
        "server.port": "0",
    }
    return Draft(names=names, texts=texts)


@pytest.fixture
def launched(draft: Draft) -> Iterator[Launched]:
    run = launcher.launch(draft)
    children = []
    try:
        children = [psutil.Process(run.pid)]
        yield run
    finally:
        for child in children:
            for process in (*_below(child), child):
                process.kill()
        ended(run)


def ended(run: Launched) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while run.exit_code() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def wait_until_listening(start: Start) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not (look := start.look()).listening:
        assert look.complaint is None, look.complaint
        assert time.monotonic() < deadline, start.launched.output()
        time.sleep(0.05)


def test_a_run_has_a_session_of_its_own_and_no_terminal(launched: Launched, draft: Draft) -> None:
    start = Start(launched)
    first = start.look()
    assert [stage.progress for stage in first.stages[:2]] == [Progress.DONE, Progress.NOW]
    wait_until_listening(start)
    pid = launched.pid
    assert os.getsid(pid) == pid
    assert os.getsid(pid) != os.getsid(0)
    if sys.platform == "linux":
        assert Path(f"/proc/{pid}/fd/0").readlink() == Path("/dev/null")
    status = read_status(launcher.run_dir(draft))
    assert status.state in {RunState.RUNNING, RunState.WAITING}
    assert process_is(status.pid, status.pid_started)
    assert read_run(launched.run_dir).exp_name == "mine"


def test_a_start_that_fails_says_why(draft: Draft) -> None:
    bad = draft.with_text("server.tls_cert", "/no/such.pem").with_text("server.tls_key", "/no.key")
    run = launcher.launch(bad)
    ended(run)
    look = Start(run).look()
    assert not look.listening
    assert look.complaint is not None
    assert "/no/such.pem" in look.complaint
    assert Progress.FAILED in {stage.progress for stage in look.stages}


def test_a_key_goes_by_the_environment_alone(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def spawn(path: str, words: list[str], environment: dict[str, str], **_: object) -> int:
        seen.extend((words, environment))
        raise OSError("not now")

    monkeypatch.setattr(os, "posix_spawn", spawn)
    with pytest.raises(OSError, match="not now"):
        launcher.launch(draft.with_text("server.api_key", "not-to-be-seen"))
    words, environment = seen
    assert "not-to-be-seen" not in str(words)
    assert isinstance(environment, dict)
    assert environment["PLUGRL_API_KEY"] == "not-to-be-seen"
