"""One time zone and one folder of settings for everything that is drawn."""

import copy
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows import api
from plugrl.registry import ALGORITHMS, ENVS, POLICIES
from plugrl.runs import prefect_api
from plugrl.runs.catalog import find_runs
from plugrl.runs.liveness import living_pids
from plugrl_tui.core import plugins


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day are the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without runs and settings, whose Prefect has a port of its own."""
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        monkeypatch.setenv(prefect_api.PORT_VARIABLE, str(probe.getsockname()[1]))
    # The API that all tests share is set for good once one has asked for it.
    monkeypatch.delenv(prefect_api.API_VARIABLE, raising=False)
    return tmp_path / "home"


@pytest.fixture
def own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that plug-ins register go with the test."""
    for registry in (POLICIES, ALGORITHMS, ENVS):
        monkeypatch.setattr(registry, "_entries", copy.deepcopy(registry._entries))
    monkeypatch.setattr(plugins, "_outcomes", {})
    monkeypatch.setattr(plugins, "_origins", {})


@pytest.fixture
def nothing_left_behind(own_home: Path) -> Iterator[None]:
    """Runs that a test has started end with it, and the Prefect API that they may have started."""
    yield
    for run in find_runs().found:
        if (status := run.status) is None:
            continue
        for pid in living_pids(status):
            os.kill(pid, signal.SIGKILL)
    api.stop()
