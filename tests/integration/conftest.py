"""Real commands in processes of their own, whose output is read as it comes."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import psutil
import pytest

from tests.with_us import WITH_US

REPOSITORY = Path(__file__).parents[2]
MARK = "PLUGRL_TEST_MARK"
LISTENING = r"listening on ws://127\.0\.0\.1:(\d+)"


class Program:
    """``plugrl ARGUMENTS``; stdout and stderr come together."""

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self._mark = uuid.uuid4().hex
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [*WITH_US, sys.executable, "-m", "plugrl.cli.main", *arguments],
            cwd=folder,
            env={
                **os.environ,
                MARK: self._mark,
                "PYTHONUNBUFFERED": "1",
                # Where ``tests.integration.boundary_env`` is found.
                "PYTHONPATH": str(REPOSITORY),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # Always read: a program whose pipe is full stands still.
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def output(self) -> str:
        """All that was written so far."""
        with self._changed:
            return "".join(self._lines)

    def wait_for(self, pattern: str, *, count: int = 1, timeout_s: float = 90) -> re.Match[str]:
        """The match in the ``count``-th line that has one."""
        found: list[re.Match[str]] = []
        deadline = time.monotonic() + timeout_s
        seen = 0
        with self._changed:
            while len(found) < count:
                new, seen = self._lines[seen:], len(self._lines)
                found += [match for line in new if (match := re.search(pattern, line))]
                if len(found) < count and len(self._lines) == seen:
                    in_time = self._changed.wait(max(0.0, deadline - time.monotonic()))
                    assert in_time, f"no {pattern!r} in time in:\n{''.join(self._lines)}"
                    assert seen < len(self._lines) or not self._ended, "".join(self._lines)
        return found[count - 1]

    def finish(self, timeout_s: float = 90) -> tuple[int, str]:
        """The exit code and all that was written."""
        self.process.wait(timeout_s)
        self._reader.join()
        return self.process.returncode, self.output

    def family(self, word: str = "") -> list[psutil.Process]:
        """All living processes of this command, itself included; with ``word`` in argv."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.environ().get(MARK) == self._mark and word in " ".join(
                    process.cmdline()
                ):
                    found.append(process)
        return found

    def close(self) -> None:
        for process in self.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self.finish()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class Start(Protocol):
    """Starts ``plugrl ARGUMENTS``."""

    def __call__(self, *arguments: str) -> Program: ...


@contextlib.contextmanager
def programs(folder: Path) -> Iterator[Start]:
    """Start commands in ``folder``; none outlives the block."""
    started: list[Program] = []

    def start(*arguments: str) -> Program:
        started.append(Program(arguments, folder))
        return started[-1]

    try:
        yield start
    finally:
        for program in started:
            program.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start commands in an empty folder."""
    with programs(tmp_path) as starting:
        yield starting


def serve(start: Start, *arguments: str) -> tuple[Program, str]:
    """Start ``plugrl run-server ARGUMENTS`` on a free port, and return that too."""
    server = start("run-server", *arguments, "--port", "0")
    return server, server.wait_for(LISTENING)[1]


def train(start: Start, server: Sequence[str], client: Sequence[str]) -> str:
    """Run a server and a client to their ends; returns what the server wrote."""
    serving, port = serve(start, *server)
    playing = start("run-env-client", *client, "--server-port", port)
    code, output = serving.finish()
    assert code == 0, output
    client_code, client_output = playing.finish()
    assert client_code == 0, client_output
    return output


def arrays_of(step_dir: Path) -> dict[str, bytes]:
    """The weights and the optimizer of a step folder, byte for byte."""
    return {path.name: path.read_bytes() for path in step_dir.glob("*.safetensors")}
