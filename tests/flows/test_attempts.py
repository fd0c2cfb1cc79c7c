import asyncio
from uuid import UUID

import httpx
import pytest
from prefect import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterName,
    FlowRunFilterParentFlowRunId,
)
from prefect.states import Cancelling

from flows import attempts
from flows.attempts import AttemptRuns
from plugrl.cli.supervision import Ending, Outcome
from tests.flows.runs_by_hand import begin

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]


async def test_a_cancel_is_heard_though_no_client_could_be_made_for_a_while(monkeypatch):
    refusals = [httpx.ConnectError("the API is away")] * 3

    def unsteady():
        if refusals:
            raise refusals.pop()
        return get_client()

    monkeypatch.setattr(attempts, "get_client", unsteady)
    monkeypatch.setattr(attempts, "POLL_S", 0.05)
    flow_run_id, _ = await asyncio.to_thread(begin)
    hears = asyncio.create_task(AttemptRuns(UUID(flow_run_id)).cancelled())
    async with get_client() as client:
        await client.set_flow_run_state(UUID(flow_run_id), Cancelling(), force=True)
    await asyncio.wait_for(hears, 30)
    assert not refusals


CRASH = Ending(attempt=1, outcome=Outcome.FAILED, exit_code=137, reason="ended by SIGKILL")


async def attempts_below(flow_run_id: str) -> list[tuple[str, str | None, object]]:
    below = FlowRunFilter(
        parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[UUID(flow_run_id)]),
        name=FlowRunFilterName(like_="attempt-"),
    )
    async with get_client() as client:
        found = await client.read_flow_runs(flow_run_filter=below)
    return [(run.name, run.state_name, run.parameters) for run in found]


@pytest.mark.parametrize("lost", ["the request", "the answer"])
async def test_an_attempt_that_began_while_prefect_did_not_answer_is_recorded_at_its_end(
    monkeypatch, lost
):
    flow_run_id, _ = await asyncio.to_thread(begin)
    runs = AttemptRuns(UUID(flow_run_id))
    create = runs._create

    async def lose(*of_the_attempt) -> UUID:
        if lost == "the answer":
            await create(*of_the_attempt)
        raise TimeoutError

    monkeypatch.setattr(runs, "_create", lose)
    parameters = {"attempt": 7, "run_dir": "/x"}
    assert await runs.open(1, 7, parameters) is None
    monkeypatch.setattr(runs, "_create", create)
    await runs.close(CRASH)
    assert await attempts_below(flow_run_id) == [("attempt-7", "Crashed", parameters)]


@pytest.mark.parametrize(
    ("began", "resumable", "message"),
    [
        (True, True, "stopped by SIGINT; it can be resumed"),
        (False, True, "stopped by SIGINT"),
        (True, False, "stopped by SIGINT"),
    ],
)
def test_a_run_that_was_stopped_can_be_resumed_if_it_has_begun_to_train(began, resumable, message):
    ending = Ending(
        attempt=1, outcome=Outcome.STOPPED, exit_code=0, reason="stopped by SIGINT", began=began
    )
    assert attempts.final_state(ending, resumable=resumable).message == message
