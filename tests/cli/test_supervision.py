import asyncio
import os
import signal
import threading
from collections.abc import Callable

import pytest
from websockets.asyncio.client import connect

from plugrl.cli import supervision
from plugrl.cli.child_process import ChildCommand
from plugrl.cli.programs import runnable
from plugrl.cli.restarts import RestartConfig
from plugrl.cli.supervision import Ending, Onlooker, Outcome, Supervisor
from plugrl.runs.provenance import Provenance
from plugrl.training.step_folder import step_dirs

SERVER = ("dummy-policy", "default", "dummy", "debug", "--port=0", "--exp-name=x")
# At a pace that leaves the machine to others.
ENDLESS = ("--algo.global-steps=1e9", "--algo.fake-inference-duration-sec=0.002")
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
        self.ports: list[int | None] = []

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        self.ports.append(port)
        argv = [*SERVER, *self.flags, *(["--overwrite"] if attempt > 1 else [])]
        argv += [] if port is None else [f"--port={port}"]
        return ChildCommand(name="run-server", argv=argv, provenance=TYPED)

    def clients(self, url: str) -> ChildCommand | None:
        return ChildCommand(name="run-env-client", argv=self.clients_of(url), provenance=TYPED)

    def newest_step(self) -> int | None:
        steps = step_dirs(self.run_dir)
        return int(steps[-1].name) if steps else None


class Killer(Onlooker):
    """Kills the servers of the first attempts once they listen."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.pid = 0
        self.endings: list[tuple[Outcome, str | None, bool]] = []
        self.after_a_crash: Callable[[], None] = lambda: None

    def started(self, attempt: int, pid: int) -> None:
        self.pid = pid

    def listening(self, attempt: int, url: str) -> None:
        if attempt <= self.times:
            os.kill(self.pid, signal.SIGKILL)

    async def ended(self, ending: Ending, *, pause_s: float | None) -> None:
        self.endings.append((ending.outcome, ending.reason, pause_s is not None))
        if pause_s is not None:
            self.after_a_crash()


def dummies(url: str) -> list[str]:
    return ["dummy-v1", "state", f"--server-host={url}", "--retry-max-s=1"]


async def test_a_server_that_never_listens_is_refused_and_no_client_is_started(tmp_path):
    def never(url: str) -> list[str]:
        raise AssertionError(url)

    plan = PlanOfTwo(tmp_path, never, "--resume")
    ending = await Supervisor(plan, restarts=RestartConfig(retries=3)).run()
    assert (ending.outcome, ending.exit_code, ending.attempt) == (Outcome.REFUSED, 2, 1)
    assert "nothing to resume" in str(ending.reason)
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


async def test_a_server_with_nothing_left_to_train_is_done_and_no_client_is_started(tmp_path):
    class Listener(Onlooker):
        def listening(self, attempt: int, url: str) -> None:
            urls.append(url)

    def never(url: str) -> list[str]:
        raise AssertionError(url)

    urls: list[str] = []
    assert (await Supervisor(PlanOfTwo(tmp_path, dummies)).run()).outcome is Outcome.DONE
    ending = await Supervisor(PlanOfTwo(tmp_path, never, "--resume"), onlooker=Listener()).run()
    assert (ending.outcome, ending.exit_code) == (Outcome.DONE, 0)
    # That the folder is ours is for the onlooker to know, who records the end.
    assert len(urls) == 1


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
    plugrl = runnable("plugrl")
    assert out.endswith(f"stopped; to go on: {plugrl} launch --exp-name x --resume\n")


async def test_clients_that_still_start_when_a_stop_is_asked_for_do_not_look_for_the_server_long(
    tmp_path, monkeypatch
):
    class SlowToStart(PlanOfTwo):
        def clients(self, url: str) -> ChildCommand | None:
            os.kill(os.getpid(), signal.SIGTERM)
            return ChildCommand(name="", argv=(), provenance=TYPED, module="slow")

    (tmp_path / "slow.py").write_text("import time; time.sleep(120)")
    monkeypatch.setattr(supervision, "CLIENTS_GRACE_S", 100.0)
    async with asyncio.timeout(60):
        ending = await Supervisor(SlowToStart(tmp_path, dummies, *ENDLESS)).run()
    assert ending.outcome is Outcome.STOPPED


KILLED = (Outcome.FAILED, "the server was ended by SIGKILL")


async def test_a_server_that_dies_is_started_again_on_its_port_until_it_is_done(tmp_path):
    urls: list[str] = []

    def clients(url: str) -> list[str]:
        urls.append(url)
        return dummies(url)

    killer = Killer(times=1)
    plan = PlanOfTwo(tmp_path, clients)
    restarts = RestartConfig(retries=1, retry_delay=0.0)
    ending = await Supervisor(plan, restarts=restarts, onlooker=killer).run()
    assert (ending.outcome, ending.attempt, ending.exit_code) == (Outcome.DONE, 2, 0)
    assert killer.endings == [(*KILLED, True), (Outcome.DONE, None, False)]
    assert plan.ports[1] == int(urls[0].rpartition(":")[2])


async def test_clients_follow_a_server_that_had_to_leave_its_port_to_another(tmp_path):
    class Moving(PlanOfTwo):
        def server(self, attempt: int, port: int | None) -> ChildCommand:
            return super().server(attempt, None)

    urls: list[str] = []

    def clients(url: str) -> list[str]:
        urls.append(url)
        return dummies(url)

    plan = Moving(tmp_path, clients)
    restarts = RestartConfig(retries=1, retry_delay=0.0)
    async with asyncio.timeout(150):
        ending = await Supervisor(plan, restarts=restarts, onlooker=Killer(times=1)).run()
    assert (ending.outcome, ending.attempt) == (Outcome.DONE, 2)
    assert len(set(urls)) == 2


async def test_a_server_that_dies_too_often_without_a_new_checkpoint_ends_the_run(tmp_path):
    killer = Killer(times=9)
    plan = PlanOfTwo(tmp_path, dummies, *ENDLESS)
    restarts = RestartConfig(retries=1, retry_delay=0.0)
    ending = await Supervisor(plan, restarts=restarts, onlooker=killer).run()
    assert (ending.outcome, ending.attempt) == (Outcome.FAILED, 2)
    assert ending.exit_code == 128 + signal.SIGKILL
    assert killer.endings == [(*KILLED, True), (*KILLED, False)]


async def test_a_stop_between_two_attempts_is_told_as_the_end(tmp_path):
    killer = Killer(times=1)
    plan = PlanOfTwo(tmp_path, dummies, *ENDLESS)
    restarts = RestartConfig(retries=1, retry_delay=60.0)
    supervisor = Supervisor(plan, restarts=restarts, onlooker=killer)
    killer.after_a_crash = lambda: supervisor.request_stop("enough")
    ending = await supervisor.run()
    assert (ending.outcome, ending.attempt, ending.exit_code) == (Outcome.STOPPED, 1, 0)
    assert killer.endings == [
        (*KILLED, True),
        (Outcome.STOPPED, "enough, between two attempts", False),
    ]


async def test_a_server_that_dies_while_its_clients_are_away_is_not_waited_for(
    tmp_path, monkeypatch
):
    def nowhere(url: str) -> list[str]:
        return ["dummy-v1", "state", "--server-host=ws://127.0.0.1:9", "--retry-limit=1"]

    def kill_server() -> None:
        # Asked when the clients have failed, before they are to begin again.
        if killer.endings == []:
            os.kill(killer.pid, signal.SIGKILL)

    killer = Killer(times=0)
    plan = PlanOfTwo(tmp_path, nowhere, *ENDLESS)
    monkeypatch.setattr(plan, "newest_step", kill_server)
    supervisor = Supervisor(
        plan, restarts=RestartConfig(retries=1, retry_delay=60.0), onlooker=killer
    )
    killer.after_a_crash = lambda: supervisor.request_stop("enough")
    async with asyncio.timeout(55):
        ending = await supervisor.run()
    assert ending.outcome is Outcome.STOPPED
    assert killer.endings[0] == (*KILLED, True)


DYING = """
import json, os, signal, socket, sys, time

link = socket.socket(fileno=int(sys.argv[1]))
tell = lambda **news: link.sendall((json.dumps(news) + "\\n").encode())
last_words = [word for word in sys.argv if word in ("done", "stopped")]

def die(*signal_and_frame):
    for word in last_words:
        tell(concluded=word)
    os.kill(os.getpid(), signal.SIGKILL)

signal.signal(signal.SIGTERM, die)
signal.signal(signal.SIGINT, die)
if "silent" not in sys.argv:
    tell(listening="ws://127.0.0.1:9")
if "asked" in sys.argv:
    tell(stopping=True)
    die()
while True:
    time.sleep(60)
"""
"""A server that is killed by what would stop it, after it has said what it was told to."""


class DyingPlan(PlanOfTwo):
    """Its servers are of DYING, with these arguments, and its clients come from elsewhere."""

    def __init__(self, folder, *arguments: str) -> None:
        super().__init__(folder, lambda url: [])
        (folder / "dying.py").write_text(DYING)
        self.arguments = arguments

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        return ChildCommand(
            name="run-server", argv=self.arguments, provenance=TYPED, module="dying"
        )

    def clients(self, url: str) -> ChildCommand | None:
        return None


class Stopper(Onlooker):
    """Sends a signal to this process once there is a server, or once it listens."""

    def __init__(self, number: signal.Signals, *, at_once: bool = False) -> None:
        self.number, self.at_once = number, at_once

    def started(self, attempt: int, pid: int) -> None:
        if self.at_once:
            os.kill(os.getpid(), self.number)

    def listening(self, attempt: int, url: str) -> None:
        os.kill(os.getpid(), self.number)


@pytest.mark.parametrize(
    ("last_words", "outcome", "code", "reason"),
    [
        (["stopped"], Outcome.STOPPED, 0, "stopped by SIGTERM"),
        (["done"], Outcome.DONE, 0, "stopped by SIGTERM"),
        (
            [],
            Outcome.FAILED,
            128 + signal.SIGKILL,
            "the server was ended by SIGKILL during the stop, before it had saved",
        ),
    ],
)
async def test_a_server_that_dies_during_a_stop_has_failed_only_where_something_is_lost(
    tmp_path, last_words, outcome, code, reason
):
    plan = DyingPlan(tmp_path, *last_words)
    onlooker = Stopper(signal.SIGTERM)
    ending = await Supervisor(plan, restarts=RestartConfig(), onlooker=onlooker).run()
    assert ending == Ending(attempt=1, outcome=outcome, exit_code=code, reason=reason)


async def test_a_server_that_dies_while_it_stops_for_a_viewer_is_not_followed_by_another(tmp_path):
    restarts = RestartConfig(retries=3, retry_delay=0.0)
    ending = await Supervisor(DyingPlan(tmp_path, "asked"), restarts=restarts).run()
    assert (ending.attempt, ending.outcome, ending.exit_code) == (1, Outcome.FAILED, 128 + 9)
    assert ending.reason == "the server was ended by SIGKILL during the stop, before it had saved"


async def test_a_stop_that_a_viewer_asked_the_server_for_is_known_here(tmp_path):
    stops: list[asyncio.Task[None]] = []

    async def stop(url: str) -> None:
        async with connect(f"{url}/monitor") as viewer:
            await viewer.send('{"command": "stop"}')
            async for _ in viewer:
                pass

    class Viewer(Onlooker):
        def listening(self, attempt: int, url: str) -> None:
            stops.append(asyncio.create_task(stop(url)))

    ending = await Supervisor(PlanOfTwo(tmp_path, dummies, *ENDLESS), onlooker=Viewer()).run()
    await asyncio.gather(*stops, return_exceptions=True)
    assert (ending.outcome, ending.reason) == (Outcome.STOPPED, "stopped on request")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_before_the_server_is_up_exits_as_that_signal_does(tmp_path, number):
    onlooker = Stopper(number, at_once=True)
    ending = await Supervisor(DyingPlan(tmp_path, "silent"), onlooker=onlooker).run()
    assert (ending.outcome, ending.exit_code) == (Outcome.STOPPED, 128 + number)
    assert ending.reason == f"stopped by {number.name}, before anything was begun"
    assert not ending.began


async def test_a_plan_that_hangs_on_the_disk_keeps_no_stop_waiting(tmp_path, monkeypatch):
    hangs = threading.Event()
    plan = DyingPlan(tmp_path)
    monkeypatch.setattr(plan, "server", lambda attempt, port: hangs.wait())
    supervisor = Supervisor(plan)
    asyncio.get_running_loop().call_soon(supervisor.request_stop, "enough")
    async with asyncio.timeout(30):
        ending = await supervisor.run()
    hangs.set()
    assert (ending.outcome, ending.exit_code) == (Outcome.STOPPED, 0)


async def test_checkpoints_on_a_disk_that_hangs_end_no_run(tmp_path, monkeypatch, caplog):
    hangs = threading.Event()
    plan = PlanOfTwo(tmp_path, dummies)
    monkeypatch.setattr(supervision, "DISK_TIMEOUT_S", 0.1)
    monkeypatch.setattr(plan, "newest_step", hangs.wait)
    restarts = RestartConfig(retries=1, retry_delay=0.0)
    killer = Killer(times=1)
    # As a disk that is back when the next server begins.
    killer.after_a_crash = hangs.set
    ending = await Supervisor(plan, restarts=restarts, onlooker=killer).run()
    assert (ending.outcome, ending.attempt) == (Outcome.DONE, 2)
    assert "can't be looked at: the disk does not answer" in caplog.text


async def test_checkpoints_that_cannot_be_looked_at_end_no_run(tmp_path, monkeypatch, caplog):
    def vanished() -> None:
        raise OSError(116, "Stale file handle")

    plan = PlanOfTwo(tmp_path, dummies)
    monkeypatch.setattr(plan, "newest_step", vanished)
    restarts = RestartConfig(retries=1, retry_delay=0.0)
    ending = await Supervisor(plan, restarts=restarts, onlooker=Killer(times=1)).run()
    assert (ending.outcome, ending.attempt) == (Outcome.DONE, 2)
    assert "can't be looked at: [Errno 116] Stale file handle" in caplog.text
