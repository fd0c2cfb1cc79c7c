import pytest

from plugrl.cli.child_process import Child, ChildCommand, Spare
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
