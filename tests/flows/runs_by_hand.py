"""Runs by hand, in folders and in Prefect: as they are left, without having to train."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from prefect import Task, flow, get_client
from prefect.client.schemas.objects import State
from prefect.states import Running

from plugrl.runs import catalog, liveness, records
from plugrl.runs.records import Checkpoint, Event, RunRecord, RunState, RunStatus

MakeRun: TypeAlias = Callable[..., Path]

RECORD = RunRecord(
    exp_name="",
    policy="gaussian-policy",
    policy_variant="default",
    algorithm="ppo",
    algorithm_variant="default",
    env="hopper",
    argv=("plugrl-flow", "train", "gaussian-policy", "default", "ppo", "default"),
    total_steps=1_000_000,
    created_at=1000.0,
)
GONE = {"pid": 2**22 + 1, "pid_started": 1.0}
"""No process has such a pid."""


def make_run(base: Path, name: str, state: RunState, **status: Any) -> Path:
    """A run in ``state``, of this process unless the status says otherwise."""
    folder = base / "ppo" / "gaussian-policy" / name
    folder.mkdir(parents=True)
    records.write_run(folder, replace(RECORD, exp_name=name))
    written = RunStatus(
        state=state,
        step=4096,
        total_steps=1_000_000,
        host=liveness.this_host(),
        last_checkpoint=Checkpoint(str(folder / "2048"), 2048),
    )
    records.write_status(folder, replace(written, **status))
    records.append_event(folder, Event(event="started", attempt=1, step=0, time=1000.0))
    catalog.register(folder)
    return folder


@flow(name="train")
def supervisor() -> None:
    """Stands for the flow of that name."""


@flow(name="serve")
def server() -> None:
    """Likewise."""


def begin(state: State[None] | None = None) -> tuple[str, str]:
    """A flow run of a supervisor, and below it one of an attempt, both alive for Prefect."""
    with get_client(sync_client=True) as client:
        parent = client.create_flow_run(supervisor, state=state or Running())
        task_run = client.create_task_run(
            Task(lambda: None, name="serve"), parent.id, dynamic_key=uuid.uuid4().hex
        )
        child = client.create_flow_run(server, state=Running(), parent_task_run_id=task_run.id)
        return str(parent.id), str(child.id)
