"""Whole runs of ``plugrl-flow train``, to do harm to."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from plugrl.errors import RunRecordError
from plugrl.runs.records import Event, RunState, RunStatus, read_events, read_status
from plugrl.training.step_folder import valid_steps
from tests.shared_api import client_of
from tests.with_us import WITH_US

MARK = "PLUGRL_TEST_MARK"
PATIENCE_S = 90.0
"""How long anything may take on a busy machine."""

FAULTS = '''
"""Faults at a word: whatever the file FAULT names happens to the server, once."""
import ctypes, os, signal, sys, threading, time
from pathlib import Path

FAULT = Path("fault")

def raise_in_learn():
    from plugrl.algorithms.dummy import Dummy
    def learn(self, progress):
        raise ValueError("a fault in learn")
    Dummy.learn = learn

def die_after_saving():
    from plugrl.training.recording import Recording
    Recording.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)

HARM = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "segv": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(7),
    "raise": raise_in_learn,
    "die_after_saving": die_after_saving,
}

def watch():
    while True:
        if FAULT.exists():
            kind = FAULT.read_text()
            FAULT.unlink()
            HARM[kind]()
        time.sleep(0.02)

if "run-server" in sys.argv:
    threading.Thread(target=watch, daemon=True).start()
'''

T = TypeVar("T")


def until(what: str, look: Callable[[], T | None], patience_s: float = PATIENCE_S) -> T:
    """What ``look`` finds, once it is something."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"expected {what} within {patience_s:g} s")


@dataclass
class Run:
    """A supervised run in processes of its own."""

    process: subprocess.Popen[str]
    folder: Path
    mark: str
    output: Path

    @property
    def text(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def events(self, name: str = "") -> list[Event]:
        return [e for e in read_events(self.folder) if name in ("", e.event)]

    def status(self) -> RunStatus | None:
        with contextlib.suppress(OSError, RunRecordError):
            return read_status(self.folder)
        return None

    def wait_for(self, event: str, count: int = 1, *, attempt: int | None = None) -> Event:
        """The ``count``-th event of that name, of that attempt."""

        def look() -> Event | None:
            found = [e for e in self.events(event) if attempt in (None, e.attempt)]
            assert len(found) >= count or self.process.poll() is None, self.text
            return found[count - 1] if len(found) >= count else None

        try:
            return until(f"{count} {event}", look)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.text}") from error

    def wait_until_step(self, step: int, patience_s: float = 600.0) -> None:
        """Wait until the status tells of ``step``."""

        def look() -> bool:
            assert self.process.poll() is None, self.text
            status = self.status()
            return status is not None and status.step >= step and status.server_pid is not None

        until(f"step {step}", look, patience_s)

    def harm(self, kind: str) -> None:
        """Have ``kind`` of FAULTS happen to the server."""
        beside = self.output.with_name("fault.beside")
        beside.write_text(kind)
        beside.rename(self.output.with_name("fault"))

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def family(self, word: str = "") -> list[psutil.Process]:
        """All living processes of the run, with ``word`` in their command."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark and word in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def finish(self, patience_s: float = PATIENCE_S) -> int:
        """The exit code, once no process is left."""
        try:
            code = self.process.wait(patience_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(self.text) from error
        until("no process to be left", lambda: not self.family())
        return code

    def assert_it_stops_whole(self) -> None:
        """It ends well, in its own attempt, and what it says of its last checkpoint is true."""
        assert self.finish() == 0, self.text
        assert self.states() == ("Cancelled", ["Cancelled"])
        status = self.status()
        assert status is not None
        assert (status.state, self.events()[-1].event) == (RunState.STOPPED, "stopped")
        assert status.last_checkpoint is not None
        assert valid_steps(self.folder)[-1] == status.last_checkpoint.step

    def states(self) -> tuple[str, list[str]]:
        """The names of the flow run's state and of its attempts', as Prefect's API tells them."""
        return states_of(self.folder.name)


def api(path: str, **body: Any) -> Any:
    with client_of(os.environ["PREFECT_API_URL"]) as client:
        return client.post(path, json=body).raise_for_status().json()


def flow_run_of(name: str) -> Any:
    (found,) = api("/flow_runs/filter", flow_runs={"name": {"any_": [name]}})
    return found


def states_of(name: str) -> tuple[str, list[str]]:
    train = flow_run_of(name)
    below = {"parent_flow_run_id": {"any_": [train["id"]]}}
    attempts = api("/flow_runs/filter", flow_runs=below, sort="EXPECTED_START_TIME_ASC")
    attempts.sort(key=lambda run: int(re.sub(r"\D", "", run["name"])))
    return train["state_name"], [run["state_name"] for run in attempts]


Start = Callable[..., Run]

PPO = ("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum", "--port", "0")
DUMMY = ("dummy-policy", "default", "dummy", "debug", "--env", "dummy-v1:state", "--port", "0")
"""A short run, where what learns doesn't matter."""
LONG_LEARN = (*DUMMY, "--algo.fake-learn-duration-sec", "60")
ENDLESS = (*PPO, "--algo.global-steps", "1e9", "--retry-delay", "0.1", "--import", "faults")
LIGHT = (
    *(*DUMMY, "--algo.global-steps", "1e9", "--algo.fake-inference-duration-sec", "0.005"),
    *("--algo.fake-learn-freq", "64", "--retry-delay", "0.1", "--import", "faults"),
)
"""Endless too, where what learns doesn't matter; at a pace that leaves the machine to others."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``plugrl-flow train ARGS --exp-name NAME`` in an empty folder."""
    (tmp_path / "faults.py").write_text(FAULTS)
    runs: list[Run] = []

    def begin(
        *arguments: str, name: str | None = None, below: Sequence[str] = (), **variables: str
    ) -> Run:
        name = name or f"x-{uuid.uuid4().hex[:8]}"
        mark, output = uuid.uuid4().hex, tmp_path / f"{name}-{len(runs)}.out"
        base = tmp_path / "checkpoints"
        for flag, value in pairwise(arguments):
            base = Path(value) if flag == "--checkpoint-base-dir" else base
        words = ("train", *arguments, "--exp-name", name)
        with output.open("w") as file:
            process = subprocess.Popen(
                [*WITH_US, *below, sys.executable, "-m", "flows.cli", *words],
                cwd=tmp_path,
                env={**os.environ, MARK: mark, "PYTHONUNBUFFERED": "1", **variables},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        runs.append(Run(process, base / arguments[2] / arguments[0] / name, mark, output))
        return runs[-1]

    yield begin
    for run in runs:
        for process in run.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        run.process.wait()
