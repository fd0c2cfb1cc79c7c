import pytest

from plugrl.config.server import RunConfig
from plugrl.errors import CheckpointNotFoundError, RunExistsError, UsageError
from plugrl.training.run_folder import RunFolder


def choose(tmp_path, **config) -> RunFolder:
    run = RunConfig(checkpoint_base_dir=tmp_path / "base", **config)
    return RunFolder(run, algorithm="ppo", policy="gaussian-policy")


def test_the_folder_is_named_after_algorithm_policy_and_experiment(tmp_path):
    folder = choose(tmp_path, exp_name="a")
    assert folder.path == tmp_path / "base" / "ppo" / "gaussian-policy" / "a"


def test_choosing_a_folder_makes_none(tmp_path):
    choose(tmp_path, exp_name="a")
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_every_run_gets_a_new_one(tmp_path):
    assert choose(tmp_path).name != choose(tmp_path).name


def test_an_existing_folder_is_refused_with_the_ways_out(tmp_path):
    choose(tmp_path, exp_name="a").open()
    with pytest.raises(RunExistsError, match=r"FileExistsError.*--resume.*--overwrite") as error:
        choose(tmp_path, exp_name="a")
    assert isinstance(error.value, FileExistsError)


def test_resuming_needs_a_folder_and_makes_none(tmp_path):
    with pytest.raises(CheckpointNotFoundError, match="FileNotFoundError"):
        choose(tmp_path, exp_name="a", resume=True)
    assert list(tmp_path.iterdir()) == []


def test_overwriting_empties_the_folder_only_when_it_is_opened(tmp_path):
    first = choose(tmp_path, exp_name="a")
    first.open()
    first.close()
    (first.path / "old").touch()
    second = choose(tmp_path, exp_name="a", overwrite=True)
    assert (first.path / "old").exists()
    second.open()
    assert list(first.path.iterdir()) == []


def test_resuming_keeps_what_is_there_and_clears_dead_writes(tmp_path):
    first = choose(tmp_path, exp_name="a")
    first.open()
    first.close()
    (first.path / "metrics.jsonl").touch()
    (first.path / ".writing-5-1-1").mkdir()
    choose(tmp_path, exp_name="a", resume=True).open()
    assert [p.name for p in first.path.iterdir()] == ["metrics.jsonl"]


@pytest.mark.parametrize("how", ["resume", "overwrite"])
def test_a_folder_in_use_is_refused_until_it_is_let_go(tmp_path, how):
    first = choose(tmp_path, exp_name="a")
    first.open()
    with pytest.raises(UsageError, match="another process is training"):
        choose(tmp_path, exp_name="a", **{how: True})
    first.close()
    choose(tmp_path, exp_name="a", **{how: True}).close()


def test_a_path_too_long_for_the_disk_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="File name too long"):
        choose(tmp_path / ("x" * 300), exp_name="a")
