"""The flow ``serve``: one attempt to train, in a process of its own.

Its recipe: find the checkpoint to go on from, serve and learn, save again and again.
"""

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Failed

from flows.beside import tell, telling_of_errors
from flows.disk_work import saving, searching
from flows.tasks import resume_checkpoint, save_checkpoint
from plugrl.algorithms.algorithm import TrainState
from plugrl.cli.child import Link
from plugrl.cli.run_server import Order
from plugrl.cli.supervision import ON_REQUEST
from plugrl.errors import PlugRLError
from plugrl.server.algorithm import SavedCheckpoint
from plugrl.server.loop import StopReason
from plugrl.training import checkpoint
from plugrl.training.checkpoint import LoadedCheckpoint, Origin


@dataclass(frozen=True)
class Job:
    """What this process is to serve: no parameter of the flow, as those are sent and shown."""

    order: Order
    link: Link


job: ContextVar[Job] = ContextVar("job")


@flow(name="serve", persist_result=False, validate_parameters=False)
async def serve(attempt: int, run_dir: str) -> State[Any] | None:
    """Train until the run is finished or stopped.

    Args:
        attempt: which of the run's servers this is.
        run_dir: the run's folder.
    """
    try:
        with telling_of_errors():
            reason = await _train(job.get())
    except PlugRLError as error:
        # Whoever runs this has been told; Prefect would show the traceback of what is raised.
        return Failed(message=str(error))
    tell(reason)
    if reason is StopReason.STOPPED:
        saves = job.get().order.spec.algorithm_config.makes_checkpoints
        return Cancelled(message=f"{ON_REQUEST}{'; the checkpoint is saved' if saves else ''}")
    return None


async def _train(job: Job) -> StopReason:
    order, link = job.order, job.link
    training_run = order.build(save=_save_on(asyncio.get_running_loop()), resume=_resume)
    link.stop = training_run.server.request_stop
    return await order.serve(training_run, link.listening, link.concluded, link.stopping)


def _resume(exp_dir: Path) -> LoadedCheckpoint | None:
    search = searching(exp_dir, job.get().order.spec)
    # Nothing else runs yet that a task could hold up.
    resume_checkpoint(str(exp_dir), search)
    return search.result


def _save_on(loop: asyncio.AbstractEventLoop) -> checkpoint.Save:
    def save_in_thread(
        exp_dir: Path, origin: Origin, state: TrainState, metrics: Mapping[str, float]
    ) -> SavedCheckpoint:
        """Called in a thread of the server's, which waits; the task runs on the event loop."""
        save = saving(job.get().order.spec, exp_dir, origin, state, metrics)
        run = save_checkpoint(int(state.counters["global_step"]), save)
        asyncio.run_coroutine_threadsafe(run, loop).result()
        return save.result

    return save_in_thread
