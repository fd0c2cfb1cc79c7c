"""PPO by the command that a person types, until the return that the literature reports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.learning, pytest.mark.integration]


@pytest.mark.timeout(900)
def test_cartpole_is_solved_within_200k_frames(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "plugrl.cli.main", "launch"),
            *("categorical-policy", "default", "ppo", "cartpole", "--env", "cartpole"),
            *("--num-procs", "1", "--num-envs", "8", "--exp-name", "x", "--port", "0"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = tmp_path / "checkpoints" / "ppo" / "categorical-policy" / "x" / "metrics.jsonl"
    last = json.loads(lines.read_text().splitlines()[-1])
    assert 200_000 <= last["step"] < 202_000
    assert last["rollout/episode_return_mean"] >= 475
