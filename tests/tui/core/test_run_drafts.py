"""What a run's command makes of a draft."""

import json
from pathlib import Path

import pytest

from plugrl_tui.core import run_drafts
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import Draft
from tests.tui.core.test_history import make_run, only_row

pytestmark = pytest.mark.usefixtures("own_home")


def test_a_resume_goes_on_in_the_same_folder_from_anywhere(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    draft = run_drafts.resumed(only_row().run)
    run = draft.verdict.configs["run"]
    assert run.resume
    assert run.checkpoint_base_dir / "ppo" / "gaussian-policy" / run.exp_name == folder
    assert draft.value("algo.gamma") == 0.9


def test_a_key_that_was_left_out_of_the_command_is_no_key(tmp_path: Path) -> None:
    make_run(tmp_path, flags="--api-key KEY")
    assert run_drafts.copied(only_row().run).value("server.api_key") is None


def test_a_copy_has_no_name_and_no_resume(tmp_path: Path) -> None:
    make_run(tmp_path)
    run = run_drafts.copied(only_row().run).verdict.configs["run"]
    assert run.exp_name is None
    assert not run.resume


def test_what_a_run_changes_is_told_without_its_name(tmp_path: Path) -> None:
    make_run(tmp_path)
    assert run_drafts.changed_fields(only_row()) == ("algo.gamma 0.9",)


def test_a_copy_of_a_warm_start_finds_its_checkpoint_from_anywhere(tmp_path: Path) -> None:
    folder = make_run(tmp_path, flags="--algo.policy-checkpoint-path ckpt/hopper-1/64")
    data = json.loads((folder / "run.json").read_text())
    parent = "/x/ckpt/ppo/gaussian-policy/hopper-1/64"
    (folder / "run.json").write_text(json.dumps({**data, "parent_checkpoint": parent}))
    assert str(run_drafts.copied(only_row().run).value("algo.policy_checkpoint_path")) == parent


def test_a_warm_start_is_conducted_like_its_parent_but_for_what_is_chosen(tmp_path: Path) -> None:
    flags = "--no-prefect --num-procs 3 --num-envs 5 --track.enabled --import mine --algo.gamma 0.5"
    make_run(tmp_path, flags=flags)
    draft = Draft(imports=("other",)).with_text("clients.num_envs", "7")
    warm = run_drafts.conducted_like(draft, run_drafts.draft_of(only_row().run))
    assert [warm.value(f"clients.num_{what}") for what in ("procs", "envs")] == [3, 7]
    assert (warm.value("flow.prefect"), warm.value("track.enabled")) == (False, True)
    assert warm.value("run.checkpoint_base_dir") == tmp_path / "ckpt"
    assert warm.imports == ("other", "mine")
    assert warm.value("algo.gamma") == Draft().value("algo.gamma")


def test_a_command_whose_plug_ins_are_not_imported_tells_its_flags(tmp_path: Path) -> None:
    make_run(tmp_path, flags="--import mine --policy.unknown=3")
    assert "--policy.unknown=3" in run_drafts.changed_fields(only_row())


def test_a_command_that_is_not_ours_is_refused_with_a_sentence(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    data = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**data, "argv": ["python", "mine.py"]}))
    row = only_row()
    assert run_drafts.changed_fields(row) == ()
    with pytest.raises(CommandError, match="expected flags"):
        run_drafts.resumed(row.run)
