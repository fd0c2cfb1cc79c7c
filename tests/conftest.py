"""Settings of all tests."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more of the machine, and of what else it does, than of the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def plugrl_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The runs of tests, in processes of their own too, stay out of the user's catalogue."""
    folder = tmp_path_factory.mktemp("plugrl-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLUGRL_HOME", str(folder))
        yield folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file beside the tests; made by ``PLUGRL_UPDATE_GOLDEN=1``."""

    def check(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if os.environ.get("PLUGRL_UPDATE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert text == path.read_text()

    return check
