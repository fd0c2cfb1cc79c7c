"""What runs in the background have written to their terminals, had they had any: the newest."""

import contextlib
from pathlib import Path

KEPT = 50
"""Files of a folder that are kept beside the one that begins now."""


def prune(folder: Path, *, kept: int = KEPT) -> None:
    """Delete all but the newest output files of ``folder``; what can't be deleted stays.

    A run that still writes to one writes often, so that it is among the newest; at worst it goes
    on writing to a file without a name.
    """
    found = []
    for path in folder.glob("*.log"):
        with contextlib.suppress(OSError):
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found, reverse=True)[kept:]:
        with contextlib.suppress(OSError):
            path.unlink()
