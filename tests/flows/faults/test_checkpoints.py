"""Checkpoints are damaged, and disks are full or away."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import step_dirs, valid_steps
from tests.flows.faults.conftest import ENDLESS, Start, api, flow_run_of, until

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]

DISK_BYTES = 8 * 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 8 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_truncated_newest_checkpoint_is_named_and_the_one_before_is_taken(start: Start):
    run = start(*ENDLESS)
    run.wait_for("saved", 3)
    (server,) = run.family("run-server")
    server.suspend()
    before, newest = step_dirs(run.folder)[-2:]
    model = newest / "model.safetensors"
    model.write_bytes(model.read_bytes()[:100])
    server.kill()
    assert run.wait_for("resumed", attempt=2).step == int(before.name)
    assert str(newest) in str(run.wait_for("damaged", attempt=2).details)
    run.wait_for("saved", attempt=2)
    run.signal(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert run.states() == ("Cancelled", ["Crashed", "Cancelled"])


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        # A save in progress may take some of it first.
        while free := shutil.disk_usage(disk).free:
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size + free)
    return ballast


def save_tasks(name: str) -> list[dict[str, object]]:
    below = {"parent_flow_run_id": {"any_": [flow_run_of(name)["id"]]}}
    return list(api("/task_runs/filter", flow_runs=below, task_runs={"name": {"like_": "save-"}}))


def test_saves_are_tried_again_until_the_disk_has_room_or_is_there_again(
    start: Start, small_disk: Path
):
    run = start(*ENDLESS, "--checkpoint-base-dir", str(small_disk))
    run.wait_for("saved")
    ballast = fill(small_disk)
    until("a retry", lambda: "is not saved yet" in run.text)
    ballast.unlink()
    run.wait_for("saved", len(run.events("saved")) + 1)
    tries = run.text.count("is not saved yet")
    # As when a mount is gone for a moment, or can't be written, which root always can.
    away = run.folder.rename(run.folder.with_name("away"))
    run.folder.touch()
    until("another retry", lambda: run.text.count("is not saved yet") > tries)
    run.folder.unlink()
    away.rename(run.folder)
    run.wait_for("saved", len(run.events("saved")) + 1)
    run.signal(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert run.states() == ("Cancelled", ["Cancelled"])
    status = run.status()
    assert status is not None
    assert status.state is RunState.STOPPED
    assert status.last_checkpoint is not None
    assert valid_steps(run.folder)[-1] == status.last_checkpoint.step
    assert max(int(str(task["run_count"])) for task in save_tasks(run.folder.name)) > 1
