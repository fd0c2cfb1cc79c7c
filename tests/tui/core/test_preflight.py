"""What is found out before a run is started."""

import importlib.util
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest

from plugrl_tui.core import preflight
from plugrl_tui.core.draft import NAMES_KEY, Draft
from plugrl_tui.core.preflight import Finding, Level
from tests.tui.core.test_checkpoints import save
from tests.tui.run_folders import make_run

pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    texts = {
        "run.checkpoint_base_dir": str(tmp_path / "ckpt"),
        "run.exp_name": "mine",
        "server.port": "0",
    }
    return Draft().with_texts(texts)


def found(draft: Draft, key: str) -> Finding:
    assert draft.verdict.errors == {}
    return next(f for f in preflight.findings(draft) if f.key == key)


def test_a_draft_that_can_run_has_no_errors(draft: Draft) -> None:
    assert not [f for f in preflight.findings(draft) if f.level is Level.ERROR]


def test_a_taken_name_is_an_error_that_names_a_free_one(draft: Draft, tmp_path: Path) -> None:
    make_run(tmp_path / "ckpt", "mine")
    make_run(tmp_path / "ckpt", "mine-2")
    finding = found(draft, "run.exp_name")
    assert (finding.level, finding.sentence) == (Level.ERROR, "mine is taken; mine-3 is free")


def test_a_folder_that_cannot_be_looked_at_is_an_error(draft: Draft, tmp_path: Path) -> None:
    too_long = draft.with_text("run.checkpoint_base_dir", str(tmp_path / ("a" * 300)))
    finding = found(too_long, "run.checkpoint_base_dir")
    assert finding.level is Level.ERROR
    assert "File name too long; choose another one" in finding.sentence
    assert preflight.proposed_name(too_long) == "hopper-ppo-s0"


def test_an_overwrite_says_what_will_be_deleted(draft: Draft, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "ckpt", "mine")
    finding = found(draft.with_text("run.overwrite", "true"), "run.exp_name")
    assert finding.level is Level.NOTE
    assert finding.sentence == f"{folder} will be deleted first, with its checkpoints"


def test_a_resume_needs_a_checkpoint_and_says_from_where(draft: Draft, tmp_path: Path) -> None:
    again = draft.with_text("run.resume", "true")
    assert found(again, "run.exp_name").level is Level.ERROR
    save(make_run(tmp_path / "ckpt", "mine"), 4096)
    finding = found(again, "run.exp_name")
    assert (finding.level, finding.sentence) == (Level.FINE, "goes on from step 4,096")


def test_a_warm_start_is_held_against_the_draft(draft: Draft, tmp_path: Path) -> None:
    key = "algo.policy_checkpoint_path"
    step = save(tmp_path / "other", 100, policy_config={"activation": "relu"})
    finding = found(draft.with_text(key, str(step)), key)
    assert finding.level is Level.ERROR
    assert finding.sentence == "it has policy.activation relu, the draft has tanh"
    missing = found(draft.with_text(key, str(tmp_path / "none")), key)
    assert "no checkpoint at" in missing.sentence


def test_a_taken_port_is_an_error_and_the_usual_one_only_a_note(draft: Draft) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        finding = found(draft.with_text("server.port", str(port)), "server.port")
        assert finding.level is Level.ERROR
        assert "0 takes a free port" in finding.sentence


def test_a_device_that_is_not_there_is_an_error(
    draft: Draft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "_NVIDIA", tmp_path / "no-driver")
    finding = found(draft.with_text("policy.device", "cuda:1"), "policy.device")
    assert finding.level is Level.ERROR
    assert "no NVIDIA driver for cuda:1" in finding.sentence
    strange = found(draft.with_text("policy.device", "gpu"), "policy.device")
    assert strange.sentence == "expected cpu, mps, cuda or cuda:N, got 'gpu'"


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("free", "level", "words"),
    [
        (2**20, Level.ERROR, "only 1.0 MiB free"),
        (2**29, Level.NOTE, "little room: 512.0 MiB"),
        (2**33, Level.FINE, "8.0 GiB free"),
    ],
)
def test_room_on_the_disk(
    draft: Draft, monkeypatch: pytest.MonkeyPatch, free: int, level: Level, words: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**40, 0, free))
    finding = found(draft, "run.checkpoint_base_dir")
    assert finding.level is level
    assert finding.sentence.startswith(words)


def test_a_base_folder_that_is_a_file_is_an_error(draft: Draft, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finding = found(
        draft.with_text("run.checkpoint_base_dir", str(tmp_path / "file")),
        "run.checkpoint_base_dir",
    )
    assert finding.sentence == f"expected a folder, got the file {tmp_path / 'file'}"


def test_a_package_that_is_missing_names_its_extra(
    draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    sentences = [f.sentence for f in preflight.findings(draft) if f.level is Level.ERROR]
    assert "torch is not installed: pip install 'plugrl[server]'" in sentences
    assert "mujoco is not installed: pip install 'plugrl[mujoco]'" in sentences
    assert "prefect is not installed: pip install 'plugrl[flows]'" in sentences


def test_a_home_without_room_refuses_the_start(
    draft: Draft, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_home.mkdir()
    monkeypatch.setattr(preflight, "HOME_BYTES_NEEDED", 2**70)
    refused = found(draft, NAMES_KEY)
    assert refused.level is Level.ERROR
    assert str(own_home) in refused.sentence
    assert "where the run's log and entry go" in refused.sentence
