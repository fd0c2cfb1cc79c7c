"""The draft that waits for LAUNCH between two starts of the app."""

from pathlib import Path

from plugrl.errors import RunRecordError
from plugrl.runs.files import read_json, write_json
from plugrl.runs.home import home
from plugrl_tui.core.draft import Draft


def path() -> Path:
    """Where it is kept."""
    return home() / "launch-draft.json"


def keep(draft: Draft) -> None:
    """Write it, without secrets.

    Raises:
        OSError: it can't be written.
    """
    path().parent.mkdir(parents=True, exist_ok=True)
    write_json(path(), draft.plain())


def kept() -> Draft:
    """The draft that was kept, or a new one; one that can't be read is as good as none."""
    try:
        return Draft.of_plain(read_json(path()))
    except (OSError, RunRecordError, ValueError):
        return Draft()
