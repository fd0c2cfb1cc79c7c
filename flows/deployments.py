"""Training as a deployment: started from Prefect's UI, its API or a schedule."""

from pathlib import Path
from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.deployments.runner import EntrypointType, RunnerDeployment
from prefect.exceptions import ObjectAlreadyExists

from flows.train import train

DESCRIPTION = "Train a policy on this machine; options are the flags of plugrl-flow train."


def offer(name: str, *, limit: int) -> None:
    """Run what is asked for in child processes of this one, ``limit`` at a time, until stopped."""
    from prefect import serve

    serve(_deployment(name), limit=limit)


def deploy(name: str, *, pool: str) -> str:
    """Make the deployment of a work pool, and the pool where it is missing; returns its id."""
    with get_client(sync_client=True) as client:
        try:
            client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
        except ObjectAlreadyExists:
            client.read_work_pool(pool)
    # A worker would start in a folder of its own, and the checkpoints would go with it.
    place = {"working_dir": str(Path.cwd())}
    deployment: Any = _deployment(name, work_pool_name=pool, job_variables=place)
    return str(deployment.apply(_sync=True))


def _deployment(name: str, **where: Any) -> RunnerDeployment:
    deployment: Any = train.to_deployment(
        name,
        description=DESCRIPTION,
        tags=["plugrl"],
        # Found wherever the package is installed, in whatever folder it runs.
        entrypoint_type=EntrypointType.MODULE_PATH,
        _sync=True,
        **where,
    )
    assert isinstance(deployment, RunnerDeployment)
    return deployment
