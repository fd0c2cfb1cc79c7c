"""Deleting a run's folder, beside others who do."""

import shutil
from pathlib import Path

import pytest

from plugrl.runs.catalog import find_runs
from plugrl_tui.core import deleting
from tests.tui.core.test_history import make_run, only_row

pytestmark = pytest.mark.usefixtures("own_home")


def test_a_folder_of_which_another_deletes_a_part_at_the_same_time_goes_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path)
    (folder / "1024").mkdir()
    (folder / "1024" / "state.json").touch()
    row, rmtree = only_row(), shutil.rmtree
    losses = [FileNotFoundError(2, "No such file or directory", "status.json")] * 2

    def hindered(path: Path) -> None:
        if losses:
            (folder / "1024" / "state.json").unlink(missing_ok=True)
            raise losses.pop()
        rmtree(path)

    monkeypatch.setattr(shutil, "rmtree", hindered)
    assert deleting.delete(row) == (f"deleted {folder}", "information")
    assert not folder.exists()
    assert find_runs() == ([], [])


def test_a_folder_that_can_not_be_deleted_is_an_error_that_says_why(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    row = only_row()
    shutil.rmtree(folder)
    folder.touch()
    said = deleting.delete(row)
    assert said.severity == "error"
    assert said.words.startswith(f"could not delete all of {folder}: [Errno 20] Not a directory")
