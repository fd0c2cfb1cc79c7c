"""The id under which a tracker's server knows a run, kept in the run's folder."""

import uuid
from pathlib import Path

FILE_NAME = "tracker_id.txt"


def tracker_run_id(run_dir: Path) -> str:
    """The run's id: made once, the same after every resume."""
    path = run_dir / FILE_NAME
    if not path.exists():
        path.write_text(uuid.uuid4().hex[:12] + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()
