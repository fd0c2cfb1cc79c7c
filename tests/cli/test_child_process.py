import socket
import subprocess
import sys

import pytest

from plugrl.cli.child_process import WARM, Child, ChildCommand, Spare
from plugrl.runs.provenance import Provenance

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(spare: Spare | None = None) -> ChildCommand:
    """A server that ends soon, with a sentence."""
    argv = ["dummy-policy", "default", "dummy", "debug", "--port=0", "--exp-name=x", "--resume"]
    provenance = Provenance(argv=("plugrl", "launch"))
    return ChildCommand(name="run-server", argv=argv, provenance=provenance, spare=spare)


async def told_of(child: Child) -> tuple[int, str]:
    assert await child.listening() is None
    code, words = await child.wait(), await child.last_words()
    child.kill()
    return code, str(words)


async def test_a_child_tells_why_it_ends():
    code, words = await told_of(Child.start(refused()))
    assert code == 2
    assert "nothing to resume" in words


async def test_a_spare_does_what_it_is_told():
    spare = Spare("plugrl.cli.child")
    child = Child.start(refused(spare))
    assert child.pid == spare.process.pid
    code, words = await told_of(child)
    assert code == 2
    assert "nothing to resume" in words


async def test_a_spare_that_has_died_is_replaced():
    spare = Spare("plugrl.cli.child")
    spare.process.kill()
    spare.process.wait()
    child = Child.start(refused(spare))
    assert child.pid != spare.process.pid
    assert (await told_of(child))[0] == 2
    spare.link.close()


def test_a_spare_ends_when_its_supervisor_does():
    spare = Spare("plugrl.cli.child")
    spare.link.close()
    assert spare.process.wait(60) == 0


def test_a_spare_is_warmed_up_for_the_uids_that_it_is_told():
    script = "from plugrl.cli.child import main; main(warm_up=lambda uids: print(*uids))"
    ours, theirs = socket.socketpair()
    # There is no supervisor to wait for.
    ours.close()
    with theirs:
        command = [sys.executable, "-c", script, str(theirs.fileno()), *WARM, "a-policy", "ppo"]
        done = subprocess.run(
            command, pass_fds=[theirs.fileno()], capture_output=True, text=True, check=True
        )
    assert done.stdout == "a-policy ppo\n"
