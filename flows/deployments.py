"""Training as a deployment: started from Prefect's UI, its API or a schedule."""

from pathlib import Path
from typing import Any

from prefect import aserve, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectAlreadyExists
from prefect.types.entrypoint import EntrypointType

from flows.train import train
from plugrl.errors import UsageError

POOL_TYPE = "process"
DESCRIPTION = "Train a policy on this machine; options are the flags of plugrl-flow train."


async def offer(name: str, *, limit: int) -> None:
    """Run what is asked for in child processes of this one, ``limit`` at a time, until stopped."""
    await aserve(await _deployment(name), limit=limit)


async def deploy(name: str, *, pool: str) -> str:
    """Make the deployment of a work pool, and the pool where it is missing; returns its id.

    Raises:
        UsageError: the pool is there, and its workers start no processes.
    """
    async with get_client() as client:
        try:
            await client.create_work_pool(WorkPoolCreate(name=pool, type=POOL_TYPE))
        except ObjectAlreadyExists:
            kind = (await client.read_work_pool(pool)).type
            if kind != POOL_TYPE:
                raise UsageError(
                    f"expected a work pool of type {POOL_TYPE}, got {pool!r} of type {kind}; "
                    "name another with --pool"
                ) from None
    # A worker would start in a folder of its own, and the checkpoints would go with it.
    place = {"working_dir": str(Path.cwd())}
    deployment = await _deployment(name, work_pool_name=pool, job_variables=place)
    return str(await deployment.aapply())


async def _deployment(name: str, **where: Any) -> RunnerDeployment:
    return await train.ato_deployment(
        name,
        description=DESCRIPTION,
        tags=["plugrl"],
        # Found wherever the package is installed, in whatever folder it runs.
        entrypoint_type=EntrypointType.MODULE_PATH,
        **where,
    )
