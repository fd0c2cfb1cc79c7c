"""The whole way again, in a terminal: what Pilot can't see are escapes, pastes and real keys."""

import shlex
import sys
from pathlib import Path

import pytest

from plugrl.runs import records
from plugrl.runs.liveness import owner_lives
from plugrl.runs.records import RunState
from tests.tui.run_folders import QUICK
from tests.tui.terminal import Terminal, tmux_is_there

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,  # a minute; test_journey goes the same way in the default run
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("nothing_left_behind"),
    pytest.mark.skipif(not tmux_is_there(), reason="needs tmux: make system installs it"),
]


def opened(tmp_path: Path, home: Path, width: int, height: int) -> Terminal:
    words = [
        "env",
        "-u",
        "COLUMNS",
        "-u",
        "LINES",
        f"PLUGRL_HOME={home}",
        "TERM=xterm-256color",
        sys.executable,
    ]
    command = f"cd {shlex.quote(str(tmp_path))} && {shlex.join([*words, '-m', 'plugrl_tui'])}"
    return Terminal(command, width=width, height=height)


def stop(terminal: Terminal, folder: Path) -> None:
    terminal.press("s")
    terminal.wait_for("Stop the run")
    terminal.press("Enter")
    terminal.until(lambda: records.read_status(folder).state is RunState.STOPPED, "STOPPED")
    last = records.read_status(folder)
    terminal.until(lambda: not owner_lives(last), "no process")
    terminal.press("Escape")
    terminal.until(lambda: "Stop the run" not in terminal.screen(), "the box closed")
    terminal.press("Escape")
    terminal.wait_for("plugrl ▸ runs", "STOPPED")


def test_launch_watch_leave_attach_stop_resume_warm_start_compare(
    tmp_path: Path, own_home: Path
) -> None:
    folder = tmp_path / "checkpoints" / "ppo" / "gaussian-policy" / "hopper-ppo-s0"
    with opened(tmp_path, own_home, 120, 40) as terminal:
        terminal.wait_for("no runs yet")
        terminal.press("n")
        terminal.wait_for("what to train")
        terminal.paste(QUICK)
        terminal.wait_for("--algo.rollout-steps=256", "--no-prefect")
        terminal.press("C-r")
        terminal.wait_for("LIVE", "hopper-ppo-s0", "2 Workers 2/2")
        terminal.until(lambda: records.read_status(folder).num_learns > 0, "a learn")
        terminal.press("k")
        terminal.until(lambda: records.read_status(folder).last_checkpoint is not None, "saved")
        terminal.press("q")
        terminal.wait_for("hopper-ppo-s0 goes on")
    left = records.read_status(folder)
    assert owner_lives(left)

    with opened(tmp_path, own_home, 80, 24) as terminal:
        terminal.wait_for("RUNNING", "hopper-ppo-s0")
        terminal.until(lambda: records.read_status(folder).step > left.step, "it has gone on")
        terminal.press("Enter")
        terminal.wait_for("LIVE", "2 Workers 2/2")
        stop(terminal, folder)
        saved = records.read_status(folder).last_checkpoint
        assert saved is not None

        terminal.press("r")
        terminal.wait_for("resumes hopper-ppo-s0", "what to train")
        terminal.press("C-r")
        terminal.wait_for("LIVE", "2 Workers 2/2")
        terminal.until(lambda: records.read_status(folder).step > saved.step, "on from there")
        stop(terminal, folder)

        terminal.press("w")
        terminal.wait_for("Start from a checkpoint", "it fits")
        terminal.press("Enter")
        terminal.wait_for("from hopper-ppo-s0 @", "what to train")
        terminal.press("C-r")
        terminal.wait_for("LIVE", "hopper-ppo-s0-2", "2 Workers 2/2")
        second = folder.with_name("hopper-ppo-s0-2")
        assert records.read_run(second).parent_checkpoint is not None
        begun = records.read_status(second).step
        terminal.until(lambda: records.read_status(second).step > begun + 512, "two learns")
        stop(terminal, second)

        terminal.press("Up", "Space", "Space", "c")
        seen = terminal.wait_for("plugrl ▸ compare", "A hopper-ppo-s0", "B hopper-ppo-s0", "steps")
        assert "Traceback" not in seen
