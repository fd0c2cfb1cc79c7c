"""Drafts of runs that have been: to go on with one, or to begin another like it."""

from dataclasses import replace

from plugrl.runs.catalog import FoundRun
from plugrl_tui.core import command_line
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import SECRETS, Draft
from plugrl_tui.core.history import RunRow

_NOT_NEWS = frozenset(
    {"run.exp_name", "run.checkpoint_base_dir", "run.seed", "run.resume", "run.overwrite"}
)
"""Fields that tell nothing of how a run differs from others."""
_NOT_NEWS_AS_FLAGS = frozenset(
    {"env", "import", *(key.partition(".")[2].replace("_", "-") for key in _NOT_NEWS)}
)
_WARM = "algo.policy_checkpoint_path"
_CONDUCT = frozenset({"clients", "flow", "restarts", "track"})
"""Groups that say how a run is conducted, and nothing of what it learns."""


def changed_fields(row: RunRow) -> tuple[str, ...]:
    """What the run's command changes of the defaults, such as ``algo.gamma 0.95``.

    Of a command that is not understood, as its plug-ins are not imported, these are its flags.
    """
    try:
        draft = draft_of(row.run)
    except CommandError:
        return command_line.flags_in(row.run.record.argv, without=_NOT_NEWS_AS_FLAGS)
    return tuple(f"{key} {draft.text(key)}" for key in draft.changed if key not in _NOT_NEWS)


def draft_of(run: FoundRun) -> Draft:
    """A draft of the command that began the run; its folders are found from anywhere.

    Raises:
        CommandError: the command is none that this app understands.
    """
    draft = command_line.read_words(run.record.argv, Draft())
    for key in ("run.resume", "run.overwrite", *SECRETS):
        draft = draft.without_text(key)
    if _WARM in draft.texts and run.record.parent_checkpoint is not None:
        draft = draft.with_text(_WARM, run.record.parent_checkpoint)
    return draft.with_text("run.checkpoint_base_dir", str(run.path.parents[2]))


def conducted_like(draft: Draft, parent: Draft) -> Draft:
    """The draft with the parent's conduct, where the person has not chosen another.

    That is whether Prefect records it, local env clients, restarts, tracking, plug-ins and the
    folder of checkpoints.
    """
    usual = Draft(names=draft.names)
    keys = [key for key in usual.specs if key.partition(".")[0] in _CONDUCT]
    texts = {
        key: parent.text(key)
        for key in [*keys, "run.checkpoint_base_dir"]
        if draft.text(key) == usual.text(key)
    }
    imports = tuple(dict.fromkeys([*draft.imports, *parent.imports]))
    return replace(draft.with_texts(texts), imports=imports)


def resumed(run: FoundRun) -> Draft:
    """A draft that goes on with the run.

    Raises:
        CommandError: its command is none that this app understands.
    """
    return draft_of(run).with_texts({"run.exp_name": run.path.name, "run.resume": "true"})


def copied(run: FoundRun) -> Draft:
    """A draft like the run, without its name.

    Raises:
        CommandError: its command is none that this app understands.
    """
    return draft_of(run).without_text("run.exp_name")
