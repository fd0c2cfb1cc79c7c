"""A disk that fills while a run saves: training goes on, loudly, and the last good step stays."""

import json
from pathlib import Path

import pytest

from plugrl.training.step_folder import valid_steps
from tests.integration.conftest import Start, serve
from tests.small_disk import fill

pytestmark = pytest.mark.integration


def test_training_goes_on_while_the_disk_is_full_and_saves_again_once_it_is_not(
    start: Start, small_disk: Path
):
    server, port = serve(
        start,
        *("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum"),
        *("--algo.global-steps", "1e9", "--exp-name", "x"),
        *("--checkpoint-base-dir", str(small_disk)),
    )
    start("run-env-client", "pendulum", "--server-port", port)
    exp_dir = small_disk / "ppo" / "gaussian-policy" / "x"
    server.wait_for("saved ")
    ballast = fill(small_disk)
    lost = server.wait_for(r"ERROR CHECKPOINT NOT SAVED near step (\d+): .*No space left")
    later = server.wait_for(r"ERROR CHECKPOINT NOT SAVED near step (\d+)", count=3)
    assert int(later[1]) > int(lost[1])
    assert valid_steps(exp_dir)
    assert not list(exp_dir.glob(".writing-*"))
    ballast.unlink()
    server.wait_for("INFO saved", count=server.output.count("INFO saved") + 1)
    server.process.terminate()
    code, output = server.finish()
    assert code == 0, output
    assert valid_steps(exp_dir)[-1] > int(later[1])
    lines = [json.loads(line) for line in (exp_dir / "metrics.jsonl").read_text().splitlines()]
    steps = [line["step"] for line in lines]
    assert steps == list(range(0, steps[-1] + 1, 128))


def test_a_last_checkpoint_that_does_not_fit_is_a_failure_of_the_run(
    start: Start, small_disk: Path
):
    server, port = serve(
        start,
        *("dummy-policy", "default", "dummy", "debug", "--exp-name", "x"),
        *("--algo.global-steps", "1e9", "--algo.fake-inference-duration-sec", "0.002"),
        *("--checkpoint-base-dir", str(small_disk)),
    )
    start("run-env-client", "dummy-v1:state", "--server-port", port)
    server.wait_for("saved ")
    fill(small_disk)
    server.wait_for("CHECKPOINT NOT SAVED")
    server.process.terminate()
    code, output = server.finish()
    assert code == 1
    assert "the checkpoint could not be written; the last checkpoint is" in output
    (exp_dir,) = (small_disk / "dummy" / "dummy-policy").iterdir()
    newest = exp_dir / str(valid_steps(exp_dir)[-1])
    assert json.loads((newest / "state.json").read_text())["num_learns"] >= 1
