"""Disks are full or away; a checkpoint that is damaged is one of the ways in ``test_server``."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from plugrl.runs.records import RunState
from plugrl.training.step_folder import valid_steps
from tests.flows.faults.conftest import ENDLESS, LIGHT, Start, api, flow_run_of, until
from tests.small_disk import fill

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]


def save_tasks(name: str) -> list[dict[str, object]]:
    below = {"parent_flow_run_id": {"any_": [flow_run_of(name)["id"]]}}
    return list(api("/task_runs/filter", flow_runs=below, task_runs={"name": {"like_": "save-"}}))


def test_saves_are_tried_again_until_the_disk_has_room_or_is_there_again(
    start: Start, small_disk: Path
):
    run = start(*LIGHT, "--checkpoint-base-dir", str(small_disk))
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
    assert run.events()[-1].event == "stopped"
    assert max(int(str(task["run_count"])) for task in save_tasks(run.folder.name)) > 1


OBEYING = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
"""Begins a command that obeys the modes of files, whose owner it is, even if it is root's."""


@pytest.mark.slow  # beside the folder that is away, above
@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which(OBEYING[0]) is None, reason="root, and no setpriv here"
)
def test_a_folder_that_can_not_be_written_for_a_while_ends_nothing(start: Start):
    run = start(*ENDLESS, below=OBEYING if os.geteuid() == 0 else ())
    run.wait_for("saved")
    run.folder.chmod(0o555)
    try:
        until("a retry", lambda: "is not saved yet: [Errno 13] Permission denied" in run.text)
        until("the record to be missed", lambda: "RECORDS ARE NOT WRITTEN" in run.text)
        status = run.status()
        assert status is not None
        assert status.state is RunState.RUNNING
    finally:
        run.folder.chmod(0o755)
    run.wait_until_step(status.step + 1)
    run.wait_for("saved", len(run.events("saved")) + 1)
    run.signal(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert run.states() == ("Cancelled", ["Cancelled"])
    assert len(run.events("listening")) == 1
    assert valid_steps(run.folder)
