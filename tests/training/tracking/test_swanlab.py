import pytest

from plugrl.training.tracking.swanlab import SwanLabSink

pytest.importorskip("swanlab")


def test_offline_a_run_is_kept_in_the_run_folder(tracked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sink = SwanLabSink(tracked(config={"policy": "p"}))
    sink.write(10, {"train/loss": 0.5, "train/nan": float("nan")})
    sink.write(20, {"train/loss": 0.25})
    sink.close()
    (run,) = (tmp_path / "swanlog").glob("run-*")
    (record,) = run.glob("*.swanlab")
    assert b"train/loss" in record.read_bytes()
    assert b"policy" in (run / "files" / "config.yaml").read_bytes()
