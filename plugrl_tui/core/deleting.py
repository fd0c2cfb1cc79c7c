"""Deleting a run's folder for good; another app, or the run itself, may be quicker."""

import contextlib
import shutil
from typing import Literal, NamedTuple

from plugrl.runs import catalog
from plugrl_tui.core.history import RunRow


class Said(NamedTuple):
    """What is to be told of it."""

    words: str
    severity: Literal["information", "warning", "error"]


def delete(run: RunRow) -> Said:
    """Delete the folder and the catalogue's entry, unless the run goes on meanwhile."""
    if run.has_process():  # resumed while its name was typed
        return Said(f"{run.name} goes on meanwhile, so it is kept", "warning")
    try:
        # Where another deletes it too, ours ends at a file that is gone, with others still there.
        while run.path.exists():
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(run.path)
        catalog.forget(run.path)
    except OSError as error:
        return Said(f"could not delete all of {run.path}: {error}", "error")
    return Said(f"deleted {run.path}", "information")
