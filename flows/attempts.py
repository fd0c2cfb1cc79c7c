"""What Prefect is told of each attempt: a flow run ``serve`` below the supervisor's ``train``.

All of it is best effort with a limit: the run's folder holds the truth, and training goes on when
Prefect's API is away.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar
from uuid import UUID, uuid4

from prefect import Task, flow, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterName,
    FlowRunFilterParentFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.states import Cancelled, Completed, Crashed, Failed, Pending

from plugrl.cli.supervision import ON_REQUEST, Ending, Outcome

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S = 5.0
"""How long one call of Prefect's API may take."""
LATE_TIMEOUT_S = 10.0
"""How long it may take to record an attempt that nobody waits for any more."""
POLL_S = 2.0
"""How often the supervisor asks whether somebody cancelled its flow run."""
CANCELLED = {StateType.CANCELLING, StateType.CANCELLED}

T = TypeVar("T")


class AttemptRuns:
    """The flow runs of a supervisor's attempts."""

    def __init__(self, flow_run_id: UUID) -> None:
        """Keep them below the flow run ``flow_run_id``."""
        self._parent = flow_run_id
        self._open: dict[int, UUID] = {}
        self._missed: dict[int, tuple[int, Mapping[str, Any]]] = {}
        """Attempts that began while Prefect did not answer."""

    async def open(self, attempt: int, number: int, parameters: Mapping[str, Any]) -> UUID | None:
        """Make the flow run that a server is to be; None where Prefect can't.

        Args:
            attempt: the supervisor's count.
            number: the count in the run's folder, which people are shown.
            parameters: of the flow ``serve``.
        """
        made = await tried("open the record of an attempt", self._create(number, parameters))
        if made is None:
            self._missed[attempt] = (number, parameters)
        else:
            self._open[attempt] = made
        return made

    async def close(self, ending: Ending) -> None:
        """Give the attempt's flow run a final state, where the server did not get to.

        An attempt that began without one gets it now.
        """
        flow_run_id = self._open.pop(ending.attempt, None)
        if flow_run_id is not None:
            await tried("close the record of an attempt", _finish(flow_run_id, ending))
        if (missed := self._missed.pop(ending.attempt, None)) is not None:
            late = self._record_late(*missed, ending)
            await tried("record an attempt afterwards", late, LATE_TIMEOUT_S)

    async def cancelled(self) -> None:
        """Return once somebody has cancelled the supervisor's flow run."""
        cancelled = None
        while not cancelled:
            # Making a client fails too where the API is away; a cancel comes then all the same.
            cancelled = await tried("be asked for a cancel", self._watch(), timeout_s=None)

    async def _watch(self) -> bool:
        """True once it is cancelled."""
        await asyncio.sleep(POLL_S)
        # One client for all the polls: a new one costs 40 ms of CPU, a call of it 2 ms.
        async with get_client() as client:
            while True:
                poll = client.read_flow_run(self._parent)
                flow_run = await tried("see whether the run was cancelled", poll)
                if flow_run is not None and flow_run.state_type in CANCELLED:
                    return True
                await asyncio.sleep(POLL_S)

    async def _record_late(
        self, number: int, parameters: Mapping[str, Any], ending: Ending
    ) -> None:
        # It may be there: only the answer came too late.
        async with get_client() as client:
            found = await client.read_flow_runs(
                flow_run_filter=FlowRunFilter(
                    parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[self._parent]),
                    name=FlowRunFilterName(any_=[_name(number)]),
                )
            )
        flow_run_id = found[0].id if found else await self._create(number, parameters)
        await _finish(flow_run_id, ending)

    async def _create(self, number: int, parameters: Mapping[str, Any]) -> UUID:
        name = _name(number)
        async with get_client() as client:
            task_run = await client.create_task_run(
                Task(lambda: None, name="serve"),
                self._parent,
                dynamic_key=f"{name}-{uuid4().hex[:8]}",
                name=name,
                state=Pending(),
            )
            flow_run = await client.create_flow_run(
                flow(name="serve")(_recipe_of_another_process),
                parameters=dict(parameters),
                parent_task_run_id=task_run.id,
                name=name,
                tags=["serve", name],
                state=Pending(),
            )
        return flow_run.id


async def read(flow_run_id: UUID) -> FlowRun:
    """A flow run as Prefect has it."""
    async with get_client() as client:
        return await client.read_flow_run(flow_run_id)


async def tried(
    what: str, call: Awaitable[T], timeout_s: float | None = CALL_TIMEOUT_S
) -> T | None:
    """The result of a call of Prefect's API; None, and a line in the log, if it fails."""
    try:
        return await asyncio.wait_for(call, timeout_s)
    except Exception as error:  # noqa: BLE001 -- Prefect raises what its HTTP client does
        logger.debug("Prefect could not %s: %s: %s", what, type(error).__name__, error)
        return None


def final_state(ending: Ending, *, resumable: bool = True) -> State[Any]:
    """The state of Prefect's that says the same as ``ending``.

    Args:
        ending: how a run ended.
        resumable: whether it leaves checkpoints.
    """
    match ending.outcome:
        case Outcome.DONE:
            return Completed(message="done")
        case Outcome.STOPPED:
            hint = "; it can be resumed" if ending.began and resumable else ""
            return Cancelled(message=f"{ending.reason or ON_REQUEST}{hint}")
        case Outcome.REFUSED:
            return Failed(message=ending.reason)
        case Outcome.FAILED:
            return Crashed(message=ending.reason)


async def _finish(flow_run_id: UUID, ending: Ending) -> None:
    async with get_client() as client:
        flow_run = await client.read_flow_run(flow_run_id)
        if flow_run.state is None or not flow_run.state.is_final():
            await client.set_flow_run_state(flow_run_id, final_state(ending), force=True)


def _name(number: int) -> str:
    return f"attempt-{number}"


def _recipe_of_another_process(attempt: int, run_dir: str) -> None:
    """Stands for ``flows.serve``, which would bring along what only the server needs."""
