"""What the server refuses: a sentence, and not what Prefect shows of an exception."""

import uuid
from pathlib import Path

import pytest

from tests.flows.faults.conftest import LONG_LEARN, Start

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("prefect_api")]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        pytest.param(
            ("--policy.device", "nowhere"),
            "expected a device of this machine, got 'nowhere'",
            marks=pytest.mark.slow,  # the same way, but for torch that has to be asked
        ),
        (("--resume",), "no valid checkpoint to resume in"),
    ],
)
def test_a_mistake_that_the_server_finds_is_told_without_a_traceback(
    start: Start, tmp_path: Path, flags: tuple[str, ...], sentence: str
):
    name = f"x-{uuid.uuid4().hex[:8]}"
    if "--resume" in flags:
        (tmp_path / "checkpoints" / "dummy" / "dummy-policy" / name).mkdir(parents=True)
    run = start(*LONG_LEARN, *flags, name=name)
    assert run.finish() == 2, run.text
    assert f"plugrl-flow train: error: {sentence}" in run.text
    assert "Traceback" not in run.text
    assert run.states() == ("Failed", ["Failed"])
