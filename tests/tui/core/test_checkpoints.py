"""Which checkpoints a draft can start from, and why others can't."""

from pathlib import Path
from typing import Any

import pytest

from plugrl.training.step_folder import write_step
from plugrl_tui.core import checkpoints
from plugrl_tui.core.draft import Draft

ORIGIN: dict[str, Any] = {
    "policy": "gaussian-policy",
    "policy_variant": "default",
    "policy_config": {"hidden_sizes": [64, 64], "activation": "tanh", "device": "cuda"},
    "algorithm": "ppo",
    "algorithm_variant": "default",
    "algorithm_config": {},
    "sizes": {"obs_dim": 11, "action_dim": 3, "num_choices": []},
}


def save(run_dir: Path, step: int, **origin: Any) -> Path:
    about = {
        "step": step,
        "saved_at": "2026-01-02T03:04:05+00:00",
        "metrics": {"rollout/episode_return_mean": 12.5},
        "origin": {**ORIGIN, **origin},
    }
    return write_step(run_dir, step, {"model.safetensors": b"12345"}, about)


def test_the_newest_comes_first_with_return_time_and_size(tmp_path: Path) -> None:
    save(tmp_path, 100)
    newest = save(tmp_path, 200)
    rows = checkpoints.rows(tmp_path, Draft())
    assert [row.step for row in rows] == [200, 100]
    assert rows[0].path == newest
    assert rows[0].episode_return == 12.5
    assert rows[0].saved_at == 1_767_323_045
    assert rows[0].num_bytes == sum(f.stat().st_size for f in newest.iterdir())
    assert rows[0].refusal is None


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        ({"policy": "dummy-policy"}, "it is of policy dummy-policy, the draft has gaussian-policy"),
        ({"algorithm": "dummy"}, "it is of algorithm dummy, the draft has ppo; restore only the"),
        (
            {"policy_config": {"hidden_sizes": [256, 256]}},
            "it has policy.hidden_sizes 256 256, the draft has 64 64",
        ),
        (
            {"sizes": {"obs_dim": 17, "action_dim": 6, "num_choices": []}},
            "its env has obs_dim 17, hopper has 11",
        ),
    ],
)
def test_what_does_not_fit_says_why(tmp_path: Path, origin: dict[str, Any], reason: str) -> None:
    refusal = checkpoints.refusal(save(tmp_path, 100, **origin), Draft())
    assert refusal is not None
    assert refusal.startswith(reason)


def test_a_model_alone_fits_another_algorithm(tmp_path: Path) -> None:
    step = save(tmp_path, 100, algorithm="dummy")
    flags = {"algo.restore": "model", checkpoints.WARM_FIELD: str(step)}
    assert checkpoints.refusal(step, Draft().with_texts(flags)) is None


def test_another_architecture_fits_once_the_draft_has_it(tmp_path: Path) -> None:
    step = save(tmp_path, 100, policy_config={"hidden_sizes": [256, 256]})
    assert checkpoints.refusal(step, Draft().with_text("policy.hidden_sizes", "256 256")) is None


def test_a_damaged_checkpoint_is_refused_and_left_out_of_a_resume(tmp_path: Path) -> None:
    whole, damaged = save(tmp_path, 100), save(tmp_path, 200)
    (damaged / "model.safetensors").write_bytes(b"1234x")
    refusal = checkpoints.refusal(damaged, Draft())
    assert refusal is not None
    assert "expected sha256" in refusal
    assert checkpoints.newest_whole(tmp_path) == whole


def test_a_folder_that_is_no_step_names_the_steps_it_has(tmp_path: Path) -> None:
    save(tmp_path, 100)
    refusal = checkpoints.refusal(tmp_path, Draft())
    assert refusal is not None
    assert "which has steps 100: choose one" in refusal


def test_an_origin_that_can_not_be_read_is_a_sentence(tmp_path: Path) -> None:
    refusal = checkpoints.refusal(save(tmp_path, 100, policy_config=None), Draft())
    assert refusal is not None
    assert refusal.startswith("can't read its origin")
