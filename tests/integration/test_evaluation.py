"""An evaluation of a trained checkpoint by the commands that a person types."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Start, train

pytestmark = pytest.mark.integration

EXPERIMENT = Path("checkpoints", "ppo", "gaussian-policy", "x")


def _evaluate(start: Start, output: Path, *arguments: str) -> dict[str, Any]:
    code, said = start(
        *("eval", str(EXPERIMENT / "256"), "--env", "pendulum", "--algo.output", str(output)),
        *("--max-episode-steps", "30", "--num-envs", "2", "--port", "0", *arguments),
    ).finish()
    assert code == 0, said
    result: dict[str, Any] = json.loads(output.read_text())
    return result


def test_a_trained_checkpoint_is_measured_over_exactly_the_episodes_asked_for(start, tmp_path):
    server = ("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum")
    train(start, (*server, "--algo.global-steps", "256", "--exp-name", "x"), ("pendulum",))
    three = ("--algo.num-episodes", "3")
    first, again = (_evaluate(start, tmp_path / f"{name}.json", *three) for name in ("a", "b"))
    assert first == again
    assert (first["num_episodes"], len(first["returns"])) == (3, 3)
    assert first["deterministic"]
    assert first["lengths"] == [30, 30, 30]
    assert first["return_mean"] == pytest.approx(sum(first["returns"]) / 3)
    code, said = start("eval", str(EXPERIMENT), "--env", "pendulum").finish()
    assert code == 2
    assert "expected a step folder" in said
    assert "128, 256" in said
