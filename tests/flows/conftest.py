"""One real Prefect API for all tests of flows, and nothing of it in the user's own home."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows import api, settings
from plugrl.runs import prefect_api as addresses


def unused_port() -> int:
    """A port that nobody holds at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Makes ports that nobody holds at the moment."""
    return unused_port


@pytest.fixture(scope="session")
def prefect_api(plugrl_home: Path) -> Iterator[str]:
    """The URL of a Prefect API that this process and its children use."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with pytest.MonkeyPatch.context() as patch:
        for name in settings.CLIENT:
            patch.setenv(name, os.environ.get(name, settings.CLIENT[name]))
        patch.delenv(addresses.API_VARIABLE, raising=False)
        patch.setenv(addresses.PORT_VARIABLE, str(unused_port()))
        patch.setenv("PREFECT_HOME", str(addresses.folder()))
        url = api.start()
        patch.setenv(addresses.API_VARIABLE, url)
        try:
            # Prefect, imported by some test's module before, has read its settings already.
            with temporary_settings({PREFECT_API_URL: url}):
                yield url
        finally:
            api.stop()
