"""What RUNS says of a run's flow, asked of a real Prefect API."""

import uuid

import httpx
import pytest

from plugrl.runs import prefect_api as addresses
from plugrl_tui.core.prefect_link import flow_summary
from tests.shared_api import client_of

pytestmark = pytest.mark.integration


def make_run(client: httpx.Client, name: str, state: str, parent: str | None = None) -> str:
    """A flow run in a state, whose parent is a task of another, as subflows' are."""
    flow = client.post("/flows/", json={"name": name}).raise_for_status().json()
    about: dict[str, object] = {"flow_id": flow["id"], "state": {"type": state}}
    if parent is not None:
        task = {"flow_run_id": parent, "task_key": "sub", "dynamic_key": str(uuid.uuid4())}
        made = client.post("/task_runs/", json=task).raise_for_status().json()
        about["parent_task_run_id"] = made["id"]
    return str(client.post("/flow_runs/", json=about).raise_for_status().json()["id"])


def test_a_flow_with_two_attempts_is_one_sentence(prefect_api: str) -> None:
    with client_of(prefect_api) as client:
        parent = make_run(client, "train", "COMPLETED")
        make_run(client, "serve", "CRASHED", parent)
        make_run(client, "serve", "COMPLETED", parent)
    assert flow_summary(parent).startswith("Completed; attempts: 1 Crashed, 1 Completed")


def test_a_flow_that_prefect_has_forgotten(prefect_api: str) -> None:
    assert flow_summary(str(uuid.uuid4())) == "Prefect does not know this run any more"


def test_an_api_that_is_down_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(addresses.API_VARIABLE, "http://127.0.0.1:9/api")
    said = flow_summary(str(uuid.uuid4()))
    assert said.startswith("expected an answer of Prefect at http://127.0.0.1:9/api, got Connect")
