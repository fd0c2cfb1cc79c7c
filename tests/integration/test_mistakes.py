"""What a person gets wrong about training for real: one sentence, exit 2, no folder."""

import pytest
import torch

from plugrl.cli import launch, run_server
from plugrl.cli.entry import Command, run_guarded

PPO = ("gaussian-policy", "default", "ppo", "debug", "--env", "pendulum")


def _code(command: Command, *argv: str) -> int:
    try:
        return run_guarded(command, argv, "plugrl x")
    except SystemExit as exit_:
        return int(exit_.code or 0)


@pytest.fixture(params=[run_server.run, launch.run], ids=["run-server", "launch"])
def refused(request, capsys, tmp_path, monkeypatch):
    """Run a command that must be refused; returns what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def run(*flags: str) -> str:
        assert _code(request.param, *PPO, *flags) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said
        assert list(tmp_path.iterdir()) == []
        return str(said)

    return run


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--algo.rollout-steps", "0"), "expected at least 1, got 0, at --algo.rollout-steps"),
        (("--algo.num-minibatches", "0"), "expected at least 1, got 0"),
        (("--algo.num-minibatches", "128"), "expected at most half of rollout_steps (128)"),
        (("--algo.num-epochs", "0"), "expected at least 1, got 0"),
        (("--algo.save-interval", "0"), "expected at least 1, got 0, at --algo.save-interval"),
        (("--algo.learning-rate", "-1"), "a finite number above 0, got -1.0"),
        (("--algo.learning-rate", "nan"), "a finite number above 0, got nan"),
        (("--algo.gamma", "1.5"), "expected between 0 and 1, got 1.5"),
        (("--algo.restore", "some"), "invalid choice"),
        (("--algo.restore", "model"), "expected a policy_checkpoint_path beside a restore"),
        (("--policy.activation", "step"), "invalid choice"),
        (("--mini-infer-batch-size", "0"), "expected at least 1, or none, got 0"),
        (("--keep-last", "0"), "expected at least 1, got 0"),
        (("--seed", "-1"), "expected 0 to 4294967295, got -1"),
        (("--exp-name", "a/b"), "expected a plain folder name, got 'a/b'"),
        (("--resume", "--overwrite", "--exp-name", "x"), "expected no overwrite with resume"),
        (("--resume", "true"), "Unrecognized options: true"),
        (("--num-threads", "0"), "got 0, at --num-threads"),
        (("--limits.max-connections", "0"), "expected more than 0, got 0"),
        (("--tls-cert", "x.pem"), "expected tls_cert and tls_key together"),
    ],
)
def test_a_bad_value_is_refused_with_the_range_and_the_field(refused, flags, sentence):
    assert sentence.lower() in refused(*flags).lower()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_missing_cuda_is_one_sentence_that_names_what_there_is(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _code(run_server.run, *PPO, "--policy.device", "cuda") == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "got 'cuda'" in said
    assert "use one of cpu" in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_mistake_too(capsys, tmp_path):
    (tmp_path / "file").touch()
    base_dir = str(tmp_path / "file" / "checkpoints")
    assert _code(run_server.run, *PPO, "--checkpoint-base-dir", base_dir, "--port", "0") == 2
    said = capsys.readouterr().err
    assert "can't make the run's folder" in said
    assert "choose another --checkpoint-base-dir" in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
