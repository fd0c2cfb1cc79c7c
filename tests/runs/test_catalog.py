import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from plugrl.errors import UnknownNameError, UsageError
from plugrl.runs import catalog, records
from plugrl.runs.home import home
from plugrl.runs.records import RunRecord, RunState, RunStatus

RECORD = RunRecord(
    exp_name="one",
    policy="gaussian-policy",
    policy_variant="default",
    algorithm="ppo",
    algorithm_variant="default",
)


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))


@pytest.fixture
def make(tmp_path):
    def run(name: str, base: str = "base", created_at: float = 1.0) -> Path:
        folder: Path = tmp_path / base / "ppo" / "gaussian-policy" / name
        folder.mkdir(parents=True)
        records.write_run(folder, replace(RECORD, exp_name=name, created_at=created_at))
        records.write_status(folder, RunStatus(state=RunState.DONE))
        catalog.register(folder)
        return folder

    return run


def test_an_empty_catalogue_has_no_runs():
    assert catalog.find_runs() == ([], [])


def test_runs_come_newest_first_and_one_registered_twice_comes_once(make):
    old, new = make("old", created_at=1.0), make("new", created_at=2.0)
    catalog.register(old)
    runs = catalog.find_runs()
    assert [run.path for run in runs.found] == [new, old]
    assert runs.found[0].record.exp_name == "new"
    assert runs.found[0].status is not None
    assert runs.found[0].status.state is RunState.DONE


def test_damaged_and_vanished_runs_are_skipped_by_name(make, tmp_path):
    good, vanished, damaged, bare = (make(n) for n in ("good", "vanished", "damaged", "bare"))
    shutil.rmtree(vanished)
    (damaged / "run.json").write_text("{")
    (bare / "run.json").unlink()
    entry = home() / "runs" / "broken.json"
    entry.write_text(json.dumps({"version": 1, "path": 3}))
    runs = catalog.find_runs()
    assert [run.path for run in runs.found] == [good]
    reasons = {run.path: run.reason for run in runs.skipped}
    assert reasons[vanished] == f"the folder is gone, at {vanished}"
    assert reasons[bare] == f"no run.json in it, at {bare}"
    assert "expected a JSON object" in reasons[damaged]
    assert "expected version 1 and a path" in reasons[entry]
    assert len(reasons) == 4
    assert [run.path for run in runs.skipped if run.gone] == [vanished]


def test_a_run_whose_status_is_damaged_is_found_without_it(make):
    (make("one") / "status.json").write_text("[]")
    assert catalog.find_runs().found[0].status is None


def test_a_forgotten_run_is_out_of_the_catalogue_and_on_the_disk(make):
    folder = make("one")
    catalog.forget(folder)
    catalog.forget(folder)
    assert catalog.find_runs().found == []
    assert (folder / "run.json").exists()


def test_a_run_is_found_by_name_by_the_end_of_its_path_and_by_its_folder(make, tmp_path):
    folder = make("one")
    make("other")
    for name in ("one", "ppo/gaussian-policy/one", str(folder)):
        assert catalog.find_run(name).path == folder


def test_a_folder_that_nobody_registered_is_found_by_its_path(make):
    folder = make("one")
    catalog.forget(folder)
    assert catalog.find_run(str(folder)).path == folder
    with pytest.raises(UnknownNameError):
        catalog.find_run("one")


def test_an_unknown_name_suggests_the_nearest(make):
    make("hopper-1")
    with pytest.raises(UnknownNameError, match="unknown run 'hoper-1', did you mean 'hopper-1'"):
        catalog.find_run("hoper-1")


def test_a_name_that_two_runs_have_is_refused_with_their_folders(make):
    folders = [make("one", base) for base in ("a", "b")]
    with pytest.raises(UsageError, match="expected the name of one run") as refused:
        catalog.find_run("one")
    assert all(str(folder) in str(refused.value) for folder in folders)


def test_a_folder_with_a_damaged_record_is_refused_with_the_reason(make):
    folder = make("one")
    (folder / "run.json").write_text("{")
    with pytest.raises(UsageError, match="expected a JSON object"):
        catalog.find_run(str(folder))


def test_the_home_is_where_the_variable_says_or_the_users_data_folder(tmp_path, monkeypatch):
    assert home() == tmp_path / "home"
    monkeypatch.delenv("PLUGRL_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert home() == tmp_path / "plugrl"
