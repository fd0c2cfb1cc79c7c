"""``metrics.jsonl``: one strict JSON object a line, appended, in the run's folder.

A line with an ``event`` marks where a process began: ``started`` at step 0, or ``resumed`` at the
step restored. Lines before a ``resumed`` whose ``step`` is above its own are superseded.
"""

import json
import logging
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plugrl.training.tracking.sink import TrackedRun

logger = logging.getLogger(__name__)

FILE_NAME = "metrics.jsonl"


class JsonlSink:
    """Appends to the run's ``metrics.jsonl``; a reader sees each line as soon as it is written."""

    def __init__(self, run: TrackedRun) -> None:
        """Open the file and mark the start."""
        path = run.run_dir / FILE_NAME
        _cut_broken_line(path)
        self._file = path.open("a", encoding="utf-8")
        self._append({"event": "resumed" if run.resumed else "started", "step": run.start_step})

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append one line; numbers that JSON can't say become null.

        While the disk is full, lines wait in the file's buffer and go out with a later one.
        """
        finite = {name: v if math.isfinite(v) else None for name, v in metrics.items()}
        try:
            self._append({"step": step, **finite})
        except OSError as error:
            logger.error("%s NOT WRITTEN at step %d: %s", FILE_NAME, step, error)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: Mapping[str, Any]) -> None:
        stamped = {**line, "time": round(time.time(), 3)}
        self._file.write(json.dumps(stamped, allow_nan=False) + "\n")
        self._file.flush()


def _cut_broken_line(path: Path) -> None:
    """Drop a last line that a killed process left without its end."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
