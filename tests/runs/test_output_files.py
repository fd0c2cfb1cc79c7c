import os

from plugrl.runs.output_files import prune


def test_the_newest_output_files_are_kept_and_nothing_else_is_touched(tmp_path):
    for age in range(5):
        path = tmp_path / f"{age}.log"
        path.touch()
        os.utime(path, (1000 - age, 1000 - age))
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder.log").mkdir()
    os.utime(tmp_path / "folder.log", (1, 1))
    prune(tmp_path, kept=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "0.log",
        "1.log",
        "folder.log",
        "notes.txt",
    ]


def test_a_folder_that_is_not_there_has_nothing_to_prune(tmp_path):
    prune(tmp_path / "none")
