"""An evaluation of a trained checkpoint by the commands that a person types."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Start
from tests.integration.trained import trained_checkpoint

pytestmark = pytest.mark.integration

EXPERIMENT = Path("checkpoints", "ppo", "gaussian-policy", "x")


def _evaluate(start: Start, output: Path, *arguments: str) -> dict[str, Any]:
    code, said = start(
        *("eval", str(EXPERIMENT / "256"), "--env", "pendulum", "--algo.output", str(output)),
        *("--max-episode-steps", "30", "--num-envs", "2", "--port", "0", *arguments),
        *("--exp-name", output.stem),
    ).finish()
    assert code == 0, said
    assert "evaluated 3 episodes" in said
    assert "95% confidence interval of the mean" in said
    result: dict[str, Any] = json.loads(output.read_text())
    return result


def test_a_trained_checkpoint_is_measured_over_exactly_the_episodes_asked_for(start, tmp_path):
    # Of an architecture that an evaluation takes from the checkpoint alone.
    trained_checkpoint(tmp_path / EXPERIMENT, num_learns=2, hidden_sizes=(8,))
    three = ("--algo.num-episodes", "3")
    first, again = (_evaluate(start, tmp_path / f"{name}.json", *three) for name in ("a", "b"))
    assert first == again
    assert (first["num_episodes"], len(first["returns"])) == (3, 3)
    assert first["deterministic"]
    assert first["lengths"] == [30, 30, 30]
    assert first["return_mean"] == pytest.approx(sum(first["returns"]) / 3)
    folder = tmp_path / "checkpoints" / "eval" / "gaussian-policy" / "a"
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []
    assert (folder / "metrics.jsonl").exists()
