"""Training started by Prefect: from a deployment that a process serves, and by a worker."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from plugrl.runs.records import RunState, RunStatus
from plugrl.training.step_folder import step_dirs, valid_steps
from tests.flows.faults.conftest import Run, api, states_of, until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.usefixtures("prefect_api"),
    pytest.mark.slow,  # processes that start processes, for a minute
]

CRASH_AND_CANCEL = ["Crashed", "Cancelled"]
OPTIONS = {"algo.global-steps": 1000000000, "retry-delay": 0.1, "port": 0}
ROOT = Path(__file__).parents[3]
PREFECT = ("-m", "prefect", "--no-prompt")
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "by-serve": [("-m", "flows.cli", "serve", "--name", "by-serve")],
    "by-worker": [
        ("-m", "flows.cli", "deploy", "--name", "by-worker", "--pool", "pool"),
        (*PREFECT, "worker", "start", "--pool", "pool", "--limit", "1"),
    ],
    # As prefect.yaml names it.
    "train": [
        (*PREFECT, "work-pool", "create", "plugrl", "--type", "process"),
        (*PREFECT, "deploy", "--all"),
        (*PREFECT, "worker", "start", "--pool", "plugrl", "--limit", "1"),
    ],
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the repository holds for deployments."""
    shutil.copy(ROOT / "prefect.yaml", tmp_path)
    shutil.copytree(ROOT / "flows", tmp_path / "flows")
    # Shells keep it, and prefect.yaml asks for it.
    monkeypatch.setenv("PWD", str(tmp_path))
    return tmp_path


@pytest.fixture(params=COMMANDS)
def deployment(request, clone: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The id of a deployment of ``train``, and the process that starts its runs."""
    *before, last = COMMANDS[request.param]
    for command in before:
        subprocess.run([sys.executable, *command], cwd=clone, check=True)
    with (clone / "runner.out").open("w") as output:
        runner = subprocess.Popen(
            [sys.executable, *last], cwd=clone, stdout=output, stderr=output, text=True
        )
    found = until("the deployment", _find(request.param))
    yield found["id"], runner
    children = psutil.Process(runner.pid).children(recursive=True)
    runner.terminate()
    for process in children:
        process.terminate()
    psutil.wait_procs(children, timeout=60)
    runner.wait(60)


def _find(name: str) -> Callable[[], Any]:
    def look() -> Any:
        found = api("/deployments/filter", deployments={"name": {"any_": [name]}})
        return found[0] if found else None

    return look


def test_a_run_from_the_api_crashes_resumes_and_is_cancelled_with_its_checkpoint_saved(
    deployment, tmp_path: Path
):
    deployment_id, runner = deployment
    name = f"run-by-{os.getpid()}-{runner.pid}"
    parameters = {
        "algorithm_variant": "debug",
        "env": "pendulum",
        "exp_name": name,
        "options": OPTIONS,
    }
    made = api(f"/deployments/{deployment_id}/create_flow_run", parameters=parameters)
    folder = tmp_path / "checkpoints" / "ppo" / "gaussian-policy" / name
    run = Run(runner, folder, "", tmp_path / "runner.out")
    run.wait_for("saved", 2)
    status = run.status()
    assert status is not None
    assert status.server_pid is not None
    psutil.Process(status.server_pid).kill()
    crashed = run.wait_for("crashed")
    assert crashed.details["why"] == "the server was ended by SIGKILL"
    newest = int(step_dirs(folder)[-1].name)
    assert run.wait_for("resumed").step == newest
    run.wait_for("saved", attempt=2)
    state = {"type": "CANCELLING", "name": "Cancelling"}
    api(f"/flow_runs/{made['id']}/set_state", state=state, force=False)
    run.wait_for("stopped")
    until("both flow runs cancelled", lambda: states_of(name) == ("Cancelled", CRASH_AND_CANCEL))
    ended = until("the final status", lambda: _final(run))
    assert ended.state is RunState.STOPPED
    assert ended.last_checkpoint is not None
    assert valid_steps(folder)[-1] == ended.last_checkpoint.step > newest


def _final(run: Run) -> RunStatus | None:
    status = run.status()
    return status if status is not None and status.state.final else None
