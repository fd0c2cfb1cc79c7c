import numpy as np
import pytest

from flows.disk_work import RETRIES, DiskWork, patiently, saving, searching
from plugrl.algorithms.algorithm import TrainState
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.errors import CheckpointNotFoundError
from plugrl.runs.provenance import Owner, Provenance
from plugrl.runs.records import read_events
from plugrl.training import checkpoint
from plugrl.training.checkpoint import Origin
from plugrl.training.spec import RunSpec

ORIGIN = Origin(
    policy="dummy-policy",
    policy_variant="default",
    policy_config={},
    algorithm="dummy",
    algorithm_variant="default",
    algorithm_config={},
)
STATE = TrainState(
    model={"w": np.zeros(3, np.float32)}, optimizer={}, counters={"global_step": 7, "num_learns": 1}
)


def spec(*argv: str) -> RunSpec:
    return RunSpec(
        policy="dummy-policy",
        policy_config=DummyPolicyConfig(),
        algorithm="dummy",
        algorithm_config=DummyConfig(),
        provenance=Provenance(argv=argv, owner=Owner(pid=1, pid_started=0.0, attempt=4)),
    )


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """What was slept, in no time."""
    slept: list[float] = []
    monkeypatch.setattr("flows.disk_work.time.sleep", slept.append)
    return slept


def failing(times: int):
    """Work that fails so often, then gives its count."""
    count = 0

    def work() -> int:
        nonlocal count
        count += 1
        if count <= times:
            raise OSError(28, "No space left on device")
        return count

    return work


def test_the_pauses_between_tries_double(pauses):
    assert patiently(DiskWork(failing(RETRIES))) == RETRIES + 1
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_a_disk_that_stays_full_is_the_error_in_the_end(pauses):
    with pytest.raises(OSError, match="No space left"):
        patiently(DiskWork(failing(RETRIES + 1)))
    assert len(pauses) == RETRIES


def test_a_mistake_is_not_tried_again(pauses):
    def mistake() -> None:
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        patiently(DiskWork(mistake))
    assert pauses == []


def test_a_save_that_is_tried_again_is_an_event(tmp_path, pauses, monkeypatch):
    save, fail = checkpoint.save, failing(2)

    def sometimes(*arguments):
        fail()
        return save(*arguments)

    monkeypatch.setattr(checkpoint, "save", sometimes)
    saved = patiently(saving(spec(), tmp_path, ORIGIN, STATE, {}))
    assert saved.path == tmp_path / "7"
    events = read_events(tmp_path)
    assert [(e.event, e.attempt, e.step, e.details["tries"]) for e in events] == [
        ("save_retried", 4, 7, 1),
        ("save_retried", 4, 7, 2),
    ]


def test_a_run_that_died_before_its_first_checkpoint_begins_afresh(tmp_path):
    assert patiently(searching(tmp_path, spec("plugrl-flow", "train"))) is None


def test_a_resume_that_a_person_asked_for_wants_a_checkpoint(tmp_path, pauses):
    with pytest.raises(CheckpointNotFoundError):
        patiently(searching(tmp_path, spec("plugrl-flow", "train", "--resume")))
    # It is no trouble of the disk's, though the error is an OSError.
    assert pauses == []


def test_the_newest_checkpoint_is_found_and_told_in_a_line(tmp_path):
    checkpoint.save(tmp_path, ORIGIN, STATE, {})
    search = searching(tmp_path, spec())
    found = patiently(search)
    assert found is not None
    assert found.step == 7
    assert str(search) == f"goes on from step 7, at {tmp_path / '7'}"


def test_the_result_of_a_try_that_failed_is_its_error():
    work = DiskWork(failing(1))
    with pytest.raises(OSError, match="No space left"):
        work.attempt(1)
    with pytest.raises(OSError, match="No space left"):
        _ = work.result
    work.attempt(2)
    assert work.result == 2
