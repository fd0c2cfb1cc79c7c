from typing import Any

import pytest
from prefect.exceptions import TerminationSignal

from flows.running import run_with_prefect


def test_without_an_api_nothing_is_begun(monkeypatch):
    monkeypatch.setattr("flows.api.ensure_api", lambda: None)
    assert run_with_prefect("no-flow-at-all", {}) is None


def test_a_stop_before_the_flow_begins_is_an_interruption(monkeypatch):
    async def stopped(flow_call: Any) -> None:
        flow_call.close()
        raise TerminationSignal(signal=15)

    monkeypatch.setattr("flows.api.ensure_api", lambda: "http://127.0.0.1:9/api")
    monkeypatch.setattr("flows.reconcile.reconcile", lambda: None)
    monkeypatch.setattr("flows.beside.outcome_of", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_with_prefect("train", {})
