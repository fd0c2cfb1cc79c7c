import asyncio
from uuid import UUID

import httpx
import pytest
from prefect import get_client
from prefect.states import Cancelling

from flows import attempts
from flows.attempts import AttemptRuns
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
