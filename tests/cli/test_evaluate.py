import pytest

from plugrl.cli import evaluate
from plugrl.errors import CheckpointNotFoundError, UsageError
from plugrl.training.step_folder import write_step


def test_an_experiment_folder_says_which_steps_there_are(tmp_path):
    write_step(tmp_path, 7, {}, {"step": 7})
    with pytest.raises(CheckpointNotFoundError, match="it has the steps 7"):
        evaluate.run([str(tmp_path), "--env", "hopper"], "plugrl eval")
    with pytest.raises(CheckpointNotFoundError, match="there is none in it"):
        evaluate.run([str(tmp_path / "no"), "--env", "hopper"], "plugrl eval")


def test_the_step_folder_comes_first():
    with pytest.raises(UsageError, match="expected STEP_DIR first, got --env"):
        evaluate.run(["--env", "hopper"], "plugrl eval")


@pytest.mark.integration
def test_a_checkpoint_is_measured_with_the_architecture_it_was_saved_with(start, tmp_path):
    names = ("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum", "--exp-name", "x")
    code, output = start(
        "launch", *names, "--algo.global-steps", "128", "--policy.hidden-sizes", "8", "--port", "0"
    ).finish()
    assert code == 0, output
    step_dir = "checkpoints/ppo/gaussian-policy/x/128"
    code, output = start(
        *("eval", step_dir, "--env", "pendulum", "--algo.num-episodes", "2", "--port", "0"),
        *("--max-episode-steps", "20", "--num-envs", "2"),
    ).finish()
    assert code == 0, output
    assert "over episodes 2" in output
