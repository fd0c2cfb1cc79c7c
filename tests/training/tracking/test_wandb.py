import pytest

from plugrl.training.tracking.run_id import tracker_run_id
from plugrl.training.tracking.wandb import WandbSink

wandb = pytest.importorskip("wandb")


def test_offline_a_run_is_kept_in_the_run_folder_under_one_id(tracked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sink = WandbSink(tracked(config={"policy": "p"}))
    sink.write(10, {"train/loss": 0.5, "train/nan": float("nan")})
    sink.write(5, {"train/loss": 0.25})
    sink.close()
    # The record is complete when W&B's own process has ended, which it otherwise does at exit.
    wandb.teardown()
    (record,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    assert record.name == f"run-{tracker_run_id(tmp_path)}.wandb"
    content = record.read_bytes()
    assert b"train/loss" in content
    assert content.count(b"global_step") >= 2
