"""Drafts of runs that have been: to go on with one, or to begin another like it."""

from plugrl_tui.core import command_line
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import SECRETS, Draft
from plugrl_tui.core.history import RunRow

_NOT_NEWS = frozenset(
    {"run.exp_name", "run.checkpoint_base_dir", "run.seed", "run.resume", "run.overwrite"}
)
"""Fields that tell nothing of how a run differs from others."""


def changed_fields(row: RunRow) -> tuple[str, ...]:
    """What the run's command changes of the defaults, such as ``algo.gamma 0.95``."""
    try:
        draft = draft_of(row)
    except CommandError:
        return ()
    return tuple(f"{key} {draft.text(key)}" for key in draft.changed if key not in _NOT_NEWS)


def draft_of(row: RunRow) -> Draft:
    """A draft of the command that began the run; its folder is found from anywhere.

    Raises:
        CommandError: the command is none that this app understands.
    """
    draft = command_line.read_words(row.run.record.argv, Draft())
    for key in ("run.resume", "run.overwrite", *SECRETS):
        draft = draft.without_text(key)
    return draft.with_text("run.checkpoint_base_dir", str(row.path.parents[2]))


def resumed(row: RunRow) -> Draft:
    """A draft that goes on with the run.

    Raises:
        CommandError: its command is none that this app understands.
    """
    return draft_of(row).with_texts({"run.exp_name": row.path.name, "run.resume": "true"})


def copied(row: RunRow) -> Draft:
    """A draft like the run, without its name.

    Raises:
        CommandError: its command is none that this app understands.
    """
    return draft_of(row).without_text("run.exp_name")
