"""The base install in a clean environment: light, without torch, and enough to run envs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import REPOSITORY, serve

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

MAX_BYTES = 120 * 10**6
"""What the environment may hold in all: Python's own pip, and what ours brings."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with ``pip install .`` and nothing else."""
    folder = tmp_path_factory.mktemp("base")
    sources = folder / "sources"
    # A copy of the sources alone, for a build writes beside them.
    files = ["pyproject.toml", "README.md", "LICENSE"]
    sources.mkdir()
    for name in files:
        shutil.copy(REPOSITORY / name, sources)
    shutil.copytree(
        REPOSITORY / "plugrl", sources / "plugrl", ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", str(sources)], check=True)
    return environment


def test_it_is_light_and_brings_no_torch(environment):
    size = sum(f.lstat().st_size for f in environment.rglob("*") if not f.is_dir())
    print(f"the base install takes {size / 1e6:.1f} MB")
    assert size < MAX_BYTES
    listed = subprocess.run(
        [str(environment / "bin" / "python"), "-m", "pip", "list", "--format", "freeze"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = {line.partition("==")[0].lower() for line in listed.splitlines()}
    assert {
        "plugrl",
        "numpy",
        "msgpack",
        "websockets",
        "tyro",
        "gymnasium",
        "platformdirs",
    } <= names
    assert not names & {"torch", "safetensors", "tensorboard", "mujoco"}


def test_its_client_plays_an_episode_for_a_server_of_another_environment(environment, start):
    server, port = serve(start, "dummy-policy", "default", "dummy", "default")
    client = subprocess.run(
        [
            *(str(environment / "bin" / "plugrl-run-env-client"), "dummy-v1"),
            *("--server-host", "127.0.0.1", "--server-port", port, "--num-episodes", "1"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert client.returncode == 0, client.stderr
    assert "done: 1 episode, 100 steps, mean return 100.00" in client.stderr
    server.process.terminate()
    assert server.finish()[0] == 0


def test_its_server_says_what_to_install(environment):
    server = subprocess.run(
        [
            str(environment / "bin" / "plugrl-run-server"),
            *("dummy-policy", "default", "dummy", "default"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert server.returncode == 2
    assert "pip install 'plugrl[server]'" in server.stderr
