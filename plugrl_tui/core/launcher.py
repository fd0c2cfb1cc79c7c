"""Starts a run in a session of its own, so that it outlives the app, its terminal and tmux."""

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from plugrl.config.server import API_KEY_VARIABLE
from plugrl.runs.home import home, typed_path
from plugrl.runs.output_files import prune
from plugrl_tui.core import command_line
from plugrl_tui.core.draft import Draft

_MODULES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    command_line.TRAIN: ("flows.cli", "train"),
}
"""From a command, as it is shown, to the module that is run and its first arguments: the same
code, also where the scripts are not on the path."""
_LOG_BYTES = 64 * 1024


class Launched:
    """A run on its way; nothing of it is held that the app's end would take along."""

    def __init__(self, *, pid: int, log: Path, run_dir: Path) -> None:
        """Remember a start.

        Args:
            pid: the process that answers for the run.
            log: all that it writes to its terminal, had it one.
            run_dir: the folder that the run will have.
        """
        self.pid = pid
        self.log = log
        self.run_dir = run_dir
        self._code: int | None = None

    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def output(self) -> list[str]:
        """The latest lines of its log."""
        try:
            text = self.log.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace")
        except OSError:
            return []
        return [line.rpartition("\r")[2] for line in text.splitlines() if line.strip()]

    def complaint(self) -> str:
        """Why it has ended, as far as its log says."""
        lines = self.output()
        errors = [line for line in lines if "error" in line.lower()]
        said = (errors or lines or ["it wrote nothing"])[-1].strip()
        return f"{_ending(self.exit_code())}: {said}"


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}, after it had said"
    except ValueError:
        return f"ended by signal {-code}, after it had said"


def run_dir(draft: Draft) -> Path:
    """The folder that the draft's run will have; its name must be chosen."""
    config = draft.verdict.configs["run"]
    assert config.exp_name is not None, "a run is launched with a name"
    base = typed_path(str(config.checkpoint_base_dir)).absolute()
    return Path(base, draft.names.algorithm, draft.names.policy, config.exp_name)


def launch(draft: Draft) -> Launched:
    """Start the draft's run.

    Raises:
        OSError: its log can't be made, or there is no memory for a process.
    """
    key = draft.value("server.api_key")
    return _start(
        command_line.command(draft),
        {} if key is None else {API_KEY_VARIABLE: key},
        run_dir(draft),
    )


def _start(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> Launched:
    log = home() / "launches" / f"{time.strftime('%Y%m%d-%H%M%S')}-{folder.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    prune(log.parent)
    words = [sys.executable, "-m", *_module(command)]
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(
        sys.executable,
        words,
        {**os.environ, **variables},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), writing, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    return Launched(pid=pid, log=log, run_dir=folder)


def _module(command: Sequence[str]) -> list[str]:
    for shown, module in _MODULES.items():
        if tuple(command[: len(shown)]) == shown:
            return [*module, *command[len(shown) :]]
    raise AssertionError(f"no module runs {command[:2]}")
