import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psutil
import pytest

from tests.with_us import WITH_US

MARK = "PLUGRL_TEST_MARK"


@dataclass
class Started:
    """A command in a process of its own, whose descendants can all be found."""

    process: subprocess.Popen[str]
    mark: str
    lines: list[str] = field(default_factory=list)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read the output until a line matches."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"no line with {pattern!r} in {''.join(self.lines)}")

    def finish(self, timeout_s: float = 90) -> tuple[int, str]:
        """The exit code and all that was written."""
        rest, _ = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, "".join(self.lines) + rest

    def family(self, word: str = "") -> list[psutil.Process]:
        """All living processes that this one started, itself included; with ``word`` in argv."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and word in " ".join(process.cmdline()):
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
        return found


Start = Callable[..., Started]


@pytest.fixture
def start(tmp_path) -> Iterator[Start]:
    """Start ``plugrl ARGS`` in an empty folder; stdout and stderr come together."""
    started: list[Started] = []

    def run(*arguments: str) -> Started:
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            [*WITH_US, sys.executable, "-m", "plugrl.cli.main", *arguments],
            cwd=tmp_path,
            env={**os.environ, MARK: mark, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(Started(process, mark))
        return started[-1]

    yield run
    for one in started:
        for process in one.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        one.process.wait()
        assert one.process.stdout is not None
        one.process.stdout.close()


@pytest.fixture(autouse=True)
def same_logging_afterwards() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("plugrl")
    handlers, level = list(root.handlers), ours.level
    yield
    root.handlers[:] = handlers
    ours.setLevel(level)


@pytest.fixture
def options_of() -> Callable[[str], str]:
    """The flags in a help text, one a line."""

    def find(help_text: str) -> str:
        lines = re.findall(r"^\W{1,2}\s(--?[a-z].*?)(?:\s{2,}|$)", help_text, flags=re.MULTILINE)
        assert len(lines) > 10
        return "".join(f"{line.strip()}\n" for line in lines)

    return find
