import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from plugrl.cli.child_process import ChildCommand
from plugrl.cli.restarts import RestartConfig
from plugrl.cli.supervision import Ending, Onlooker, Outcome, Supervisor
from plugrl.runs.provenance import Provenance
from plugrl.training.step_folder import step_dirs

SERVER = ("dummy-policy", "default", "dummy", "debug", "--port=0", "--exp-name=x")
ENDLESS = ("--algo.global-steps=1e9",)
TYPED = Provenance(argv=("plugrl", "launch"))

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class PlanOfTwo:
    """A server by its arguments, clients by a function of its URL."""

    def __init__(self, run_dir, clients: Callable[[str], list[str]], *flags: str) -> None:
        self.run_dir = run_dir / "checkpoints" / "dummy" / "dummy-policy" / "x"
        self.flags = flags
        self.clients_of = clients

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        argv = [*SERVER, *self.flags, *(["--resume"] if attempt > 1 else [])]
        return ChildCommand(name="run-server", argv=argv, provenance=TYPED)

    def clients(self, url: str) -> ChildCommand:
        return ChildCommand(name="run-env-client", argv=self.clients_of(url), provenance=TYPED)

    def newest_step(self) -> int | None:
        steps = step_dirs(self.run_dir)
        return int(steps[-1].name) if steps else None


class Recorder(Onlooker):
    def __init__(self) -> None:
        self.endings: list[tuple[Ending, float | None]] = []

    def ended(self, ending: Ending, *, pause_s: float | None) -> None:
        self.endings.append((ending, pause_s))


def dummies(url: str) -> list[str]:
    return ["dummy-v1", "state", f"--server-host={url}", "--retry-max-s=1"]


async def test_a_server_that_never_listens_is_refused_and_no_client_is_started(tmp_path):
    def never(url: str) -> list[str]:
        raise AssertionError(url)

    plan = PlanOfTwo(tmp_path, never, "--policy.device=nowhere")
    ending = await Supervisor(plan, restarts=RestartConfig(retries=3)).run()
    assert (ending.outcome, ending.exit_code, ending.attempt) == (Outcome.REFUSED, 2, 1)
    assert "nowhere" in str(ending.reason)
    assert list(tmp_path.iterdir()) == []


async def test_clients_that_fail_stop_the_server_and_give_their_code(tmp_path):
    urls: list[str] = []

    def wrong(url: str) -> list[str]:
        urls.append(url)
        return ["no-such-env"]

    plan = PlanOfTwo(tmp_path, wrong)
    ending = await Supervisor(plan, restarts=RestartConfig(retries=3)).run()
    assert (ending.outcome, ending.exit_code) == (Outcome.FAILED, 2)
    assert [url.startswith("ws://127.0.0.1:") for url in urls] == [True]
    assert plan.newest_step() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_that_comes_twice_at_once_is_one(tmp_path, capfd, number):
    def interrupted(url: str) -> list[str]:
        os.kill(os.getpid(), number)
        asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), number)
        return dummies(url)

    plan = PlanOfTwo(tmp_path, interrupted, *ENDLESS)
    ending = await Supervisor(plan).run()
    assert (ending.outcome, ending.exit_code) == (Outcome.STOPPED, 0)
    assert ending.reason == f"stopped by {number.name}"
    assert plan.newest_step() is not None
    out, err = capfd.readouterr()
    assert f"{number.name}: stopping" in err
    assert "second" not in err
    assert out.endswith("stopped; to go on: plugrl launch --exp-name x --resume\n")
