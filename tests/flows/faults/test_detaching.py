"""``--detach``: the command returns, the run goes on."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from plugrl.runs.records import RunState, RunStatus, read_run, read_status
from tests.flows.faults.conftest import DUMMY, until

pytestmark = pytest.mark.integration

TRAIN = (sys.executable, "-m", "flows.cli", "train", *DUMMY, "--no-prefect", "--detach")


def run(tmp_path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [*TRAIN, "--exp-name", "x", *flags]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_the_command_returns_once_the_server_is_up_and_the_run_goes_on(tmp_path: Path):
    pace = ("--algo.fake-inference-duration-sec", "0.005")
    done = run(tmp_path, "--algo.global-steps", "1e9", *pace)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        r"^x trains in the background, at ws://127.0.0.1:\d+$", done.stdout, re.MULTILINE
    )
    assert re.search(r"^to stop it: \S*plugrl-flow cancel x$", done.stdout, re.MULTILINE)
    folder = tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x"
    assert "--no-prefect" in read_run(folder).argv
    pid = read_status(folder).pid
    assert pid is not None
    assert os.getsid(pid) == pid
    supervisor = psutil.Process(pid)
    supervisor.send_signal(signal.SIGTERM)

    def ended() -> RunStatus | None:
        status = read_status(folder)
        return status if status.state.final else None

    assert until("the end", ended).state is RunState.STOPPED
    supervisor.wait(60)


def test_a_run_that_does_not_begin_is_told_with_its_code(tmp_path: Path):
    done = run(tmp_path, "--policy.device", "nowhere")
    assert done.returncode == 2
    assert "x did not begin" in done.stdout
    assert "nowhere" in done.stdout
    assert not (tmp_path / "checkpoints").exists()
