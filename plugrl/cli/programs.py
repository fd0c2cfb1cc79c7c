"""Our programs as a person can type them here."""

import shutil
import sys
from pathlib import Path


def runnable(program: str) -> str:
    """A program by its name, or by its path where a shell would not find it, or find another's.

    ``make train`` runs in an environment that the shell around it knows nothing of.

    Args:
        program: one that is installed beside this Python, such as ``plugrl-flow``.
    """
    ours, found = Path(sys.executable).parent / program, shutil.which(program)
    if not ours.is_file() or (found is not None and ours.samefile(found)):
        return program
    here = Path.cwd()
    # Without a folder before it, a shell looks a word up in PATH again.
    return str(ours.relative_to(here)) if here in ours.parents[1:] else str(ours)
