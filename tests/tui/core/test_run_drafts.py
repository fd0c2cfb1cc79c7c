"""What a run's command makes of a draft."""

import json
from pathlib import Path

import pytest

from plugrl_tui.core import run_drafts
from plugrl_tui.core.command_line import CommandError
from tests.tui.core.test_history import make_run, only_row

pytestmark = pytest.mark.usefixtures("own_home")


def test_a_resume_goes_on_in_the_same_folder_from_anywhere(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    draft = run_drafts.resumed(only_row())
    run = draft.verdict.configs["run"]
    assert run.resume
    assert run.checkpoint_base_dir / "ppo" / "gaussian-policy" / run.exp_name == folder
    assert draft.value("algo.gamma") == 0.9


def test_a_key_that_was_left_out_of_the_command_is_no_key(tmp_path: Path) -> None:
    make_run(tmp_path, flags="--api-key KEY")
    assert run_drafts.copied(only_row()).value("server.api_key") is None


def test_a_copy_has_no_name_and_no_resume(tmp_path: Path) -> None:
    make_run(tmp_path)
    run = run_drafts.copied(only_row()).verdict.configs["run"]
    assert run.exp_name is None
    assert not run.resume


def test_what_a_run_changes_is_told_without_its_name(tmp_path: Path) -> None:
    make_run(tmp_path)
    assert run_drafts.changed_fields(only_row()) == ("algo.gamma 0.9",)


def test_a_command_that_is_not_ours_is_refused_with_a_sentence(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    data = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**data, "argv": ["python", "mine.py"]}))
    row = only_row()
    assert run_drafts.changed_fields(row) == ()
    with pytest.raises(CommandError, match="expected flags"):
        run_drafts.resumed(row)
