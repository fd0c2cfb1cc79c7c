"""Tasks of the flows: finding the checkpoint to go on from, and writing new ones.

Both retry what a disk can get over (a vanished mount, a full disk), and fail at once on anything
else. They return no result: Prefect keeps what tasks return in memory.
"""

import asyncio
from typing import Any

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.states import Failed
from prefect.tasks import exponential_backoff

from flows.disk_work import FIRST_PAUSE_S, RETRIES, DiskWork, is_disk_trouble
from plugrl.errors import PlugRLError


async def may_succeed(task: Any, task_run: TaskRun, state: State[Any]) -> bool:
    """Whether another try may succeed."""
    try:
        await state.aresult()
    except Exception as error:  # noqa: BLE001 -- whatever it was, it has to be judged
        return is_disk_trouble(error)
    return False


PATIENT: dict[str, Any] = {
    "retries": RETRIES,
    "retry_delay_seconds": exponential_backoff(FIRST_PAUSE_S),
    "retry_jitter_factor": 0.3,
    "retry_condition_fn": may_succeed,
    "cache_policy": NO_CACHE,
    "persist_result": False,
}
"""How both are run."""


@task(name="save checkpoint", task_run_name="save-{step}", **PATIENT)
async def save_checkpoint(step: int, save: DiskWork[Any]) -> None:
    """Write the checkpoint of ``step``."""
    await asyncio.to_thread(save.attempt, _run_count())
    get_run_logger().info("%s", save)


@task(name="resume checkpoint", **PATIENT)
def resume_checkpoint(folder: str, search: DiskWork[Any]) -> State[Any] | None:
    """Find the newest valid checkpoint in ``folder``; ``search`` tells whether there is one."""
    try:
        search.attempt(_run_count())
    except PlugRLError as error:
        # Returned, as Prefect would show the traceback of what is raised.
        return Failed(message=str(error))
    get_run_logger().info("%s", search)
    return None


def _run_count() -> int:
    context = TaskRunContext.get()
    assert context is not None
    return context.task_run.run_count
