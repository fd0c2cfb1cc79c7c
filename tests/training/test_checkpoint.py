import json
import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plugrl.config.base import EnvSizes
from plugrl.errors import (
    CheckpointDamagedError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
)
from plugrl.training import checkpoint, step_folder
from plugrl.training.checkpoint import CheckpointSaver, load, load_newest, require_same_origin, save


def test_every_array_comes_back_with_its_type_shape_and_bits(tmp_path, origin, make_state, equal):
    state = make_state(
        64,
        matrix=np.arange(12, dtype=np.float32).reshape(3, 4).T,
        scalar=np.array(2.5),
        empty=np.zeros((0, 3), np.float64),
        flags=np.array([True, False]),
        rng=np.arange(256, dtype=np.uint8),
        nan=np.array([np.nan, np.inf], np.float32),
    )
    saved = save(tmp_path, origin, state, {})
    loaded = load(saved.path)
    assert equal(loaded.state, state)
    assert (saved.step, loaded.step) == (64, 64)
    assert saved.num_bytes == sum(f.stat().st_size for f in saved.path.iterdir())


def test_what_the_run_was_made_from_comes_back(tmp_path, origin, make_state):
    loaded = load(save(tmp_path, origin, make_state(), {}).path).origin
    assert (loaded.policy, loaded.policy_variant) == ("gaussian-policy", "default")
    assert (loaded.algorithm, loaded.algorithm_variant) == ("ppo", "debug")
    assert loaded.sizes == EnvSizes(obs_dim=3, action_dim=2)
    assert loaded.policy_config["hidden_sizes"] == [8]
    assert loaded.algorithm_config["num_epochs"] == 2


def test_the_folder_holds_data_only_and_says_what_wrote_it(tmp_path, origin, make_state):
    path = save(tmp_path, origin, make_state(), {}).path
    state = json.loads((path / "state.json").read_text())
    assert sorted(p.name for p in path.iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    assert set(state["versions"]) == {"plugrl", "python", "numpy", "torch"}
    assert set(state["sha256"]) == {"model.safetensors", "optimizer.safetensors"}
    assert (state["step"], state["num_learns"]) == (64, 2)


def test_the_newest_checkpoint_is_the_one_with_the_highest_step(tmp_path, origin, make_state):
    for step in (9, 100, 20):
        save(tmp_path, origin, make_state(step), {})
    assert load_newest(tmp_path).step == 100


def test_damaged_checkpoints_are_named_in_a_warning_and_skipped(
    tmp_path, origin, make_state, caplog
):
    for step in (1, 2, 3):
        save(tmp_path, origin, make_state(step), {})
    (tmp_path / "3" / "model.safetensors").write_bytes(b"garbage")
    (tmp_path / "2" / "state.json").unlink()
    with caplog.at_level(logging.WARNING):
        assert load_newest(tmp_path).step == 1
    assert [str(tmp_path / n) in r.message for n, r in zip("32", caplog.records, strict=True)] == [
        True,
        True,
    ]


def test_with_no_valid_checkpoint_the_error_is_a_file_not_found_error(tmp_path):
    with pytest.raises(
        CheckpointNotFoundError, match=r"\(FileNotFoundError\); start afresh with --ov"
    ):
        load_newest(tmp_path / "nothing")
    assert issubclass(CheckpointNotFoundError, FileNotFoundError)


def test_an_experiment_folder_in_place_of_a_step_folder_says_which_steps_there_are(
    tmp_path, origin, make_state
):
    for step in (5, 70):
        save(tmp_path, origin, make_state(step), {})
    with pytest.raises(CheckpointNotFoundError, match="which has steps 5, 70: choose one") as error:
        load(tmp_path)
    assert str(tmp_path / "70") in str(error.value)


def test_files_with_right_hashes_that_hold_no_arrays_are_damage(tmp_path):
    files = {"model.safetensors": b"no", "optimizer.safetensors": b"no"}
    step_folder.write_step(
        tmp_path,
        1,
        files,
        {
            "step": 1,
            "origin": {"sizes": None},
            "counters": {"global_step": 1},
            "metrics": {},
            "saved_at": "",
        },
    )
    with pytest.raises(CheckpointDamagedError, match="can't use"):
        load(tmp_path / "1")


@pytest.mark.parametrize("step", [float("nan"), 2, "1", 10**40])
def test_counters_of_another_step_are_damage(tmp_path, step):
    counters = {"step": 1, "origin": {"sizes": None}, "counters": {"global_step": step}}
    state = {**counters, "metrics": {}, "saved_at": ""}
    step_folder.write_step(tmp_path, 1, {"model.safetensors": b""}, state)
    with pytest.raises(CheckpointDamagedError, match="expected counters of step 1"):
        load(tmp_path / "1")


@pytest.mark.parametrize(
    ("part", "wanted", "found", "refusing"),
    [
        ("policy", "gaussian-policy", "dummy-policy", {"resume", "all", "model", "except-critic"}),
        ("policy_variant", "large", "default", {"resume"}),
        ("algorithm", "fpo", "ppo", {"resume", "all"}),
        ("algorithm_variant", "default", "debug", {"resume"}),
    ],
)
def test_another_origin_is_refused_with_both_names_where_it_matters(
    tmp_path, origin, make_state, part, wanted, found, refusing
):
    saved = save(tmp_path, replace(origin, **{part: found}), make_state(), {})
    loaded, mine = load(saved.path), replace(origin, **{part: wanted})
    for how in checkpoint.SAME:
        if how in refusing:
            with pytest.raises(CheckpointMismatchError, match=f"{wanted!r}, got one of {found!r}"):
                require_same_origin(loaded, mine, how)
        else:
            require_same_origin(loaded, mine, how)


def test_the_saver_writes_the_state_of_the_moment_of_the_snapshot(
    tmp_path, origin, make_ppo, train, equal
):
    algorithm = make_ppo()
    train(algorithm, 1)
    expected = algorithm.state()
    write = CheckpointSaver(tmp_path, origin, algorithm, keep_last=3).snapshot()
    train(algorithm, 1)
    assert equal(load(write().path).state, expected)


def test_the_saver_keeps_the_last_ones_and_the_best(tmp_path, origin, make_ppo, train):
    algorithm = make_ppo()
    saver = CheckpointSaver(tmp_path, origin, algorithm, keep_last=1)
    for _ in range(3):
        train(algorithm, 1)
        saver.snapshot()()
    # Returns grow with the steps in these frames, so the last one is the best one too.
    assert step_folder.valid_steps(tmp_path) == [96]


def test_a_failed_write_raises_and_leaves_the_last_good_step(tmp_path, origin, make_ppo, train):
    algorithm = make_ppo()
    train(algorithm, 1)
    CheckpointSaver(tmp_path, origin, algorithm, keep_last=1).snapshot()()

    def fail(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    train(algorithm, 1)
    write = CheckpointSaver(tmp_path, origin, algorithm, keep_last=1, save=fail).snapshot()
    with pytest.raises(OSError, match="No space left"):
        write()
    assert step_folder.valid_steps(tmp_path) == [32]


def test_a_restored_algorithm_goes_on_as_if_it_had_never_stopped(
    tmp_path, origin, make_ppo, train, equal
):
    straight = make_ppo()
    train(straight, 4)

    first = make_ppo()
    train(first, 2)
    saved = CheckpointSaver(tmp_path, origin, first, keep_last=1).snapshot()()
    second = make_ppo()
    second.load_state(load(saved.path).state)
    train(second, 2)

    assert equal(second.state(), straight.state())
