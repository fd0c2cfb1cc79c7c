import pytest

from plugrl.cli import checkpoints
from plugrl.errors import CheckpointNotFoundError, UnknownNameError
from plugrl.runs import catalog, records
from plugrl.training.step_folder import write_step


def write(exp_dir, step: int, **metrics: float) -> None:
    state = {"step": step, "metrics": metrics, "saved_at": "2026-01-02T03:04:05+00:00"}
    write_step(exp_dir, step, {"model.safetensors": b"m" * 2048}, state)


def test_an_experiment_is_a_table(tmp_path, capsys):
    write(tmp_path, 2048)
    write(tmp_path, 10240, **{"rollout/episode_return_mean": 65.46})
    (tmp_path / "2048" / "model.safetensors").unlink()
    assert checkpoints.run([str(tmp_path)], "plugrl checkpoints") == 0
    folder, heading, damaged, whole = capsys.readouterr().out.splitlines()
    assert folder == str(tmp_path)
    assert heading.split() == ["STEP", "RETURN", "WHEN", "SIZE", "VALID"]
    assert damaged.split()[:3] == ["2,048", "-", "2026-01-02T03:04:05+00:00"]
    assert "no: can't read" in damaged
    assert whole.split()[:3] == ["10,240", "65.5", "2026-01-02T03:04:05+00:00"]
    assert whole.split()[-2:] == ["KiB", "yes"]


def test_all_experiments_below_a_folder_are_found(tmp_path, capsys):
    for name in ("a", "b"):
        write(tmp_path / "ppo" / "gaussian-policy" / name, 1)
    checkpoints.run([str(tmp_path)], "plugrl checkpoints")
    out = capsys.readouterr().out
    assert "gaussian-policy/a\n" in out
    assert "gaussian-policy/b\n" in out


def test_a_folder_without_checkpoints_is_an_error(tmp_path):
    with pytest.raises(CheckpointNotFoundError, match="no checkpoint in"):
        checkpoints.run([str(tmp_path)], "plugrl checkpoints")


@pytest.mark.parametrize("typed", ["2048", "."])
def test_a_step_folder_is_a_table_of_that_step(tmp_path, capsys, monkeypatch, typed):
    write(tmp_path, 1024)
    write(tmp_path, 2048)
    monkeypatch.chdir(tmp_path / "2048" if typed == "." else tmp_path)
    assert checkpoints.run([typed], "plugrl checkpoints") == 0
    folder, _, row = capsys.readouterr().out.splitlines()
    assert folder == typed
    assert row.split()[0] == "2,048"
    assert row.split()[-1] == "yes"


def test_a_run_is_found_by_its_name(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "ppo" / "gaussian-policy" / "walker"
    write(folder, 1)
    record = records.RunRecord(
        exp_name="walker",
        policy="gaussian-policy",
        policy_variant="default",
        algorithm="ppo",
        algorithm_variant="default",
    )
    records.write_run(folder, record)
    catalog.register(folder)
    for name in ("walker", "gaussian-policy/walker"):
        checkpoints.run([name], "plugrl checkpoints")
        assert capsys.readouterr().out.startswith(f"{folder}\n")
    with pytest.raises(UnknownNameError, match="unknown run 'waker', did you mean 'walker'"):
        checkpoints.run(["waker"], "plugrl checkpoints")
