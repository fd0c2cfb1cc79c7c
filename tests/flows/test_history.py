"""What a real Prefect API remembers, read over HTTP."""

import subprocess
import sys
import time
import uuid
from uuid import UUID

import pytest
from prefect import Task, flow, get_client, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run
from prefect.states import Completed

from plugrl.errors import HistoryUnavailableError
from plugrl.runs import prefect_api as addresses
from plugrl.runs import prefect_client, prefect_history, records
from plugrl.runs.prefect_history import FlowRunHistory, flow_run_ids, read_history
from plugrl.runs.records import Event, RunState
from tests.flows.runs_by_hand import begin, make_run

TIMEOUT_S = 60.0


@task(cache_policy=NO_CACHE, retries=1)
def save(tries: list[int]) -> None:
    tries.append(1)
    if len(tries) == 1:
        raise OSError("the disk is full")


@flow(name="serve")
def attempt() -> None:
    save([])


@flow(name="train", flow_run_name="hopper-1")
def train() -> str:
    attempt()
    create_table_artifact([{"step": 2048}], key="checkpoints", description="all of them")
    return str(flow_run.id)


def history_when_written(flow_run_id: str, url: str) -> FlowRunHistory:
    """Task runs reach Prefect's database behind the flow runs."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        (history,) = read_history([flow_run_id], url)
        tasks = [one for run in history.attempts for one in run.tasks]
        if tasks and all(one.state == "Completed" for one in tasks):
            return history
        assert time.monotonic() < deadline, history
        time.sleep(0.1)


def test_a_run_is_told_with_its_attempts_its_tasks_and_its_artifacts(prefect_api):
    flow_run_id = train()
    history = history_when_written(flow_run_id, prefect_api)
    assert (history.id, history.name, history.state) == (flow_run_id, "hopper-1", "Completed")
    assert history.url == f"{addresses.ui_url(prefect_api)}/runs/flow-run/{flow_run_id}"
    assert history.started_at == pytest.approx(time.time(), abs=TIMEOUT_S)
    assert history.seconds is not None
    (artifact,) = history.artifacts
    assert (artifact.key, artifact.kind) == ("checkpoints", "table")
    assert artifact.description == "all of them"
    assert "2048" in str(artifact.data)
    (serve,) = history.attempts
    assert serve.state == "Completed"
    (saved,) = serve.tasks
    assert saved.name.startswith("save")
    assert saved.runs == 2


def test_of_very_many_tasks_the_newest_are_read_and_all_are_counted(prefect_api, monkeypatch):
    # Prefect's limit is 200, and to make as many tasks takes long.
    for module in (prefect_client, prefect_history):
        monkeypatch.setattr(module, "MAX_ROWS", 20)
    supervisor, server = begin()
    with get_client(sync_client=True) as client:
        for number in range(23):
            client.create_task_run(
                Task(lambda: None, name="save"),
                UUID(server),
                dynamic_key=str(number),
                name=f"save-{number}",
                state=Completed(),
            )
    (history,) = read_history([supervisor], prefect_api)
    (serve,) = history.attempts
    assert serve.num_tasks == 23
    assert 0 < len(serve.tasks) <= 20
    assert serve.tasks[-1].name == "save-22"
    # The one from which the attempt hangs.
    assert history.num_tasks == 1


def test_flow_runs_that_prefect_does_not_know_are_left_out(prefect_api):
    assert read_history([str(uuid.uuid4())], prefect_api) == []
    assert read_history([], prefect_api) == []


def test_an_api_that_is_away_or_is_none_is_one_sentence(free_port, prefect_api):
    away = f"http://127.0.0.1:{free_port()}/api"
    with pytest.raises(HistoryUnavailableError, match="expected an answer of Prefect at http"):
        read_history([str(uuid.uuid4())], away)
    with pytest.raises(HistoryUnavailableError, match="got 404 Not Found, at /flow_runs"):
        read_history([str(uuid.uuid4())], f"{prefect_api}/nowhere")
    with pytest.raises(HistoryUnavailableError, match="422"):
        read_history(["no id"], prefect_api)


def test_a_runs_folder_names_its_flow_runs_in_order_and_each_once(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    folder = make_run(tmp_path, "one", RunState.DONE, flow_run_id="b")
    for name in ("a", "a", "b"):
        event = Event(event="listening", attempt=1, step=0, details={"flow_run_id": name})
        records.append_event(folder, event)
    assert flow_run_ids(folder) == ["a", "b"]
    assert flow_run_ids(tmp_path / "nowhere") == []


def test_reading_history_imports_no_prefect():
    code = """
import sys
from plugrl.runs.prefect_history import read_history
try:
    read_history(["x"], "http://127.0.0.1:1/api")
except Exception as error:
    print(type(error).__name__)
print({"prefect", "torch", "numpy"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["HistoryUnavailableError", "set()"]
