import pytest

from plugrl.cli import evaluate
from plugrl.errors import (
    CheckpointMismatchError,
    CheckpointNotFoundError,
    UnknownNameError,
    UsageError,
)
from plugrl.registry import POLICIES
from plugrl.training.step_folder import write_step

ALL_ELSE = {"metrics": {}, "saved_at": "2026-01-01T00:00:00+00:00", "origin": {}, "counters": {}}


def test_an_experiment_folder_says_which_steps_there_are(tmp_path):
    write_step(tmp_path, 7, {}, {"step": 7, **ALL_ELSE})
    with pytest.raises(CheckpointNotFoundError, match="which has steps 7"):
        evaluate.run([str(tmp_path), "--env", "hopper"], "plugrl eval")
    with pytest.raises(CheckpointNotFoundError, match="no checkpoint at"):
        evaluate.run([str(tmp_path / "no"), "--env", "hopper"], "plugrl eval")


def test_the_step_folder_comes_first():
    with pytest.raises(UsageError, match="expected STEP_DIR first, got --env"):
        evaluate.run(["--env", "hopper"], "plugrl eval")


def test_a_policy_of_a_plug_in_is_known_once_that_is_imported(tmp_path, monkeypatch):
    monkeypatch.setattr(POLICIES, "_entries", dict(POLICIES._entries))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evaluated_plugin.py").write_text(
        "from plugrl import register_policy_config\n"
        "from plugrl.config.gaussian import GaussianConfig\n"
        "register_policy_config('mine')(GaussianConfig)\n"
    )
    origin = {"policy": "mine", "policy_variant": "default", "policy_config": {}}
    step_dir = write_step(tmp_path, 7, {}, {"step": 7, **ALL_ELSE, "origin": origin})
    with pytest.raises(UnknownNameError, match="unknown policy 'mine'"):
        evaluate.run([str(step_dir), "--env", "no-env"], "plugrl eval")
    plugged = [str(step_dir), "--env", "no-env", "--import", "evaluated_plugin"]
    with pytest.raises(UnknownNameError, match="unknown env 'no-env'"):
        evaluate.run(plugged, "plugrl eval")


def test_a_step_that_is_not_there_says_which_steps_there_are(tmp_path):
    step_dir = write_step(
        tmp_path, 7, {}, {"step": 7, "saved_at": "2026-01-02T03:04:05+00:00", "metrics": {}}
    )
    with pytest.raises(CheckpointNotFoundError, match=f"steps 7: choose one, such as {step_dir}"):
        evaluate.run([str(tmp_path / "8"), "--env", "hopper"], "plugrl eval")


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_help_without_a_checkpoint_lists_the_options(argv, capsys):
    with pytest.raises(SystemExit) as exit_:
        evaluate.run(argv, "plugrl eval")
    assert exit_.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: plugrl eval STEP_DIR --env NAME")
    for flag in ("--algo.num-episodes", "--num-envs", "--policy.device", "--env NAME"):
        assert flag in out


@pytest.mark.parametrize("config", [{"of_old": 1}, {"action_dim": "x"}])
def test_a_policy_whose_fields_have_changed_is_one_sentence(tmp_path, config):
    origin = {"policy": "dummy-policy", "policy_variant": "default", "policy_config": config}
    step_dir = write_step(tmp_path, 7, {}, {"step": 7, **ALL_ELSE, "origin": origin})
    with pytest.raises(CheckpointMismatchError, match=r"at .* of another version of dummy-policy"):
        evaluate.run([str(step_dir), "--env", "dummy-v1"], "plugrl eval")
