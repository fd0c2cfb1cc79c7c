import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrl.errors import CheckpointDamagedError
from plugrl.training import step_folder
from plugrl.training.step_folder import (
    clean,
    prune,
    read_step,
    summaries,
    valid_steps,
    write_step,
)

FILES = {"model.safetensors": b"m" * 1000, "optimizer.safetensors": b"o" * 10}


def write(exp_dir: Path, step: int, episode_return: float | None = None) -> Path:
    metrics = {} if episode_return is None else {"rollout/episode_return_mean": episode_return}
    state = {"step": step, "metrics": metrics, "saved_at": "2026-01-02T03:04:05+00:00"}
    return write_step(exp_dir, step, FILES, state)


def test_what_is_written_is_read_back(tmp_path):
    path = write(tmp_path / "exp", 64, 1.5)
    folder = read_step(path)
    assert path == tmp_path / "exp" / "64"
    assert folder.files == FILES
    assert folder.state["metrics"] == {"rollout/episode_return_mean": 1.5}
    assert [p.name for p in (tmp_path / "exp").iterdir()] == ["64"]


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("length", [0, 1, -1])
def test_a_truncated_file_makes_the_folder_invalid(tmp_path, name, length):
    path = write(tmp_path, 1)
    content = (path / name).read_bytes()
    (path / name).write_bytes(content[:length])
    with pytest.raises(CheckpointDamagedError, match=name):
        read_step(path)
    assert valid_steps(tmp_path) == []


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_missing_file_makes_the_folder_invalid(tmp_path, name):
    path = write(tmp_path, 1)
    (path / name).unlink()
    with pytest.raises(CheckpointDamagedError, match=name):
        read_step(path)


@pytest.mark.parametrize("garbage", [b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'{"format": 1}'])
def test_garbage_for_json_makes_the_folder_invalid(tmp_path, garbage):
    path = write(tmp_path, 1)
    (path / "state.json").write_bytes(garbage)
    with pytest.raises(CheckpointDamagedError, match=r"state\.json"):
        read_step(path)


def test_a_changed_number_in_the_json_makes_the_folder_invalid(tmp_path):
    path = write(tmp_path, 1)
    text = (path / "state.json").read_text()
    (path / "state.json").write_text(text.replace('"step": 1', '"step": 9'))
    with pytest.raises(CheckpointDamagedError, match="sha256"):
        read_step(path)


def test_a_format_of_the_future_is_refused_by_name(tmp_path):
    path = write(tmp_path, 1)
    state = json.loads((path / "state.json").read_text())
    (path / "state.json").write_text(json.dumps({**state, "format": 2}))
    with pytest.raises(CheckpointDamagedError, match="expected format 1, got 2"):
        read_step(path)


def test_a_valid_folder_of_the_same_step_is_kept_and_a_damaged_one_replaced(tmp_path):
    path = write(tmp_path, 1)
    before = (path / "state.json").stat().st_mtime_ns
    write(tmp_path, 1, 9.0)
    assert (path / "state.json").stat().st_mtime_ns == before
    (path / "model.safetensors").write_bytes(b"")
    write(tmp_path, 1, 9.0)
    assert valid_steps(tmp_path) == [1]


def test_clean_removes_what_dead_writes_left_and_nothing_else(tmp_path):
    write(tmp_path, 1)
    (tmp_path / "metrics.jsonl").touch()
    for name in (".writing-2-99-1", ".deleting-1-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"half")
    clean(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "metrics.jsonl"]
    clean(tmp_path / "absent")


def test_pruning_keeps_the_last_ones_and_the_best(tmp_path):
    for step, episode_return in ((1, 5.0), (2, 9.0), (3, 1.0), (4, None), (5, 2.0)):
        write(tmp_path, step, episode_return)
    gone = prune(tmp_path, keep_last=2)
    assert [p.name for p in gone] == ["1", "3"]
    assert valid_steps(tmp_path) == [2, 4, 5]


def test_pruning_keeps_the_best_of_negative_returns_and_zero(tmp_path):
    for step, episode_return in ((1, 0.0), (2, -9.0), (3, -1.0)):
        write(tmp_path, step, episode_return)
    prune(tmp_path, keep_last=1)
    assert valid_steps(tmp_path) == [1, 3]


def test_of_equally_good_folders_pruning_keeps_the_latest(tmp_path):
    for step in (1, 2, 3):
        write(tmp_path, step, 7.0)
    prune(tmp_path, keep_last=1)
    assert valid_steps(tmp_path) == [3]


def test_pruning_neither_counts_nor_removes_a_folder_it_cannot_read(tmp_path):
    for step in (1, 2, 3):
        write(tmp_path, step)
    (tmp_path / "3" / "state.json").write_text("{")
    prune(tmp_path, keep_last=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["2", "3"]


def test_summaries_say_what_there_is_and_what_is_wrong(tmp_path):
    write(tmp_path, 10, 3.5)
    write(tmp_path, 9)
    (tmp_path / "9" / "model.safetensors").unlink()
    nine, ten = summaries(tmp_path)
    assert (nine.step, nine.episode_return_mean) == (9, None)
    assert nine.damage is not None
    assert (ten.step, ten.episode_return_mean, ten.damage) == (10, 3.5, None)
    assert ten.num_bytes > 1010
    assert ten.saved_at == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize("failing_call", [1, 2, 3, 4])
def test_a_write_that_fails_at_any_file_leaves_no_debris(tmp_path, monkeypatch, failing_call):
    write(tmp_path, 1)
    calls = 0

    def fail(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == failing_call:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, 2)
    assert [p.name for p in tmp_path.iterdir()] == ["1"]


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"can't mount a small disk: {mounted.stderr.decode().strip()}")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_leaves_the_last_good_step_and_no_debris(tiny_disk):
    write(tiny_disk, 1)
    with pytest.raises(OSError, match="No space left") as caught:
        write_step(tiny_disk, 2, {"model.safetensors": b"x" * 100_000}, {})
    assert caught.value.errno == errno.ENOSPC
    assert [p.name for p in tiny_disk.iterdir()] == ["1"]
    assert valid_steps(tiny_disk) == [1]


def test_a_read_only_disk_is_reported_as_it_is(tiny_disk):
    write(tiny_disk, 1)
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(OSError, match="Read-only"):
        write(tiny_disk, 2)
    assert valid_steps(tiny_disk) == [1]


WRITER = """
import sys
from pathlib import Path
from plugrl.training.step_folder import prune, write_step

exp_dir, start = Path(sys.argv[1]), int(sys.argv[2])
files = {"model.safetensors": bytes(3_000_000), "optimizer.safetensors": bytes(1_000_000)}
print("ready", flush=True)
for step in range(start, start + 100_000):
    write_step(exp_dir, step, files, {"step": step, "metrics": {}, "saved_at": "now"})
    prune(exp_dir, keep_last=2)
"""


def test_kill_9_at_any_moment_of_a_write_leaves_only_whole_folders(tmp_path):
    newest = 0
    for attempt in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(newest + 1)], stdout=subprocess.PIPE
        )
        with writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            # The moment of the kill is what varies, over the length of several writes.
            time.sleep(0.02 + 0.011 * attempt)
            writer.send_signal(signal.SIGKILL)
        steps = [int(p.name) for p in step_folder.step_dirs(tmp_path)]
        assert valid_steps(tmp_path) == steps
        newest = max(steps, default=newest)
    assert newest > 0
    clean(tmp_path)
    assert all(p.name.isdecimal() for p in tmp_path.iterdir())


def forge(step_dir: Path, **changes: object) -> None:
    """Change entries of ``state.json`` and make its own hash right again."""
    path = step_dir / "state.json"
    body = {**json.loads(path.read_bytes()), **changes}
    del body["state_sha256"]
    body = {key: value for key, value in body.items() if value is not ...}
    body["state_sha256"] = step_folder._hash(step_folder._canonical(body))
    path.write_bytes(step_folder._canonical(body))


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": ...},
        {"sha256": ["model.safetensors"]},
        {"sha256": {"../../../../dev/zero": "0"}},
        {"step": "7"},
        {"step": -5},
        {"step": 10**40},
        {"step": float("nan")},
        {"metrics": ...},
        {"saved_at": 3},
    ],
    ids=repr,
)
def test_a_state_that_is_not_ours_makes_the_folder_invalid_though_its_hash_is_right(
    tmp_path, changes
):
    path = write(tmp_path, 7)
    forge(path, **changes)
    with pytest.raises(CheckpointDamagedError, match=r"state\.json"):
        read_step(path)
    assert [summary.damage is None for summary in summaries(tmp_path)] == [False]


def test_json_nested_too_deeply_makes_the_folder_invalid(tmp_path):
    path = write(tmp_path, 7)
    (path / "state.json").write_bytes(b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(CheckpointDamagedError, match=r"state\.json"):
        read_step(path)


@pytest.mark.parametrize("name", ["0100", "1e6", "-5", "+5", " 5", "1_000", "٣", "5.bak"])
def test_folders_of_other_names_are_no_steps(tmp_path, name):
    write(tmp_path, 5).rename(tmp_path / name)
    assert valid_steps(tmp_path) == []


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "1e9"])
def test_a_mean_return_that_is_no_number_is_not_the_best(tmp_path, score):
    for step, episode_return in ((1, 5.0), (2, score), (3, 1.0), (4, 1.0)):
        write(tmp_path, step, episode_return)
    prune(tmp_path, keep_last=1)
    assert valid_steps(tmp_path) == [1, 4]
