"""Settings of all tests."""

import gc
import importlib
import itertools
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.measuring import is_measured, unmeasured
from tests.shared_api import unused_port, using_api
from tests.small_disk import mounted

# How long an example takes says more of the machine, and of what else it does, than of the code.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


if is_measured() and "PYTEST_XDIST_WORKER" in os.environ:
    # The tests import these anyway; here nobody counts the lines of other people's packages. Who
    # distributes the tests over workers imports none.
    with unmeasured():
        for package in ("torch", "prefect.artifacts", "textual.app", "gymnasium"):
            importlib.import_module(package)

WHOLE_RUNS = {"tui", "flows", "integration"}
"""Folders whose tests with processes train, and take longest."""
UNTRACED = ("many_examples", "hypothesis", "fuzz")
"""Markers of tests by many examples; what they reach, named examples reach too."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: at the end no worker waits for the other's last test.

    Every worker of a distributed run is given one stretch of the tests to begin with. Those with
    processes, which often wait, are dealt out to all but one of them: that one computes meanwhile.

    By folders and not by measured times, so that the order is the same for all workers.
    """
    items.sort(key=lambda item: WHOLE_RUNS.isdisjoint(item.path.parts))
    with_processes = [item for item in items if item.get_closest_marker("integration")]
    others = iter([item for item in items if not item.get_closest_marker("integration")])
    num_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    num_waiting = max(1, num_workers - 1)
    length = len(items) // num_workers
    ordered: list[pytest.Item] = []
    for worker in range(num_workers):
        stretch = with_processes[worker::num_waiting] if worker < num_waiting else []
        ordered += itertools.chain(stretch, itertools.islice(others, max(0, length - len(stretch))))
    items[:] = itertools.chain(ordered, others)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Leave coverage out of what runs the same lines a hundred times."""
    if any(item.get_closest_marker(name) for name in UNTRACED):
        with unmeasured():
            return (yield)
    return (yield)


def pytest_collection_finish() -> None:
    """What is imported stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def plugrl_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The runs of tests, in processes of their own too, stay out of the user's catalogue."""
    folder = tmp_path_factory.mktemp("plugrl-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLUGRL_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def signals_end_programs() -> Iterator[None]:
    """As in a terminal: what nohup, or a shell in the background, ignores, its children would."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def our_programs_are_found() -> Iterator[None]:
    """As in an activated environment: commands that are told to be typed are bare names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def prefect_api(
    plugrl_home: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[str]:
    """The URL of a Prefect API that this process and its children use."""
    folder = tmp_path_factory.getbasetemp()
    # The workers of a run have folders beside one another.
    shared = folder if worker_id == "master" else folder.parent
    with using_api(shared / "prefect-api") as url:
        yield url


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Makes ports that nobody holds at the moment."""
    return unused_port


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 8 MiB; ``tests.small_disk.fill`` leaves no room on it."""
    with mounted(tmp_path / "disk") as folder:
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
