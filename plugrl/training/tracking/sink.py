"""What every place for metrics is, and the run that it is told of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol


class Sink(Protocol):
    """A place for metrics; used from one thread, and free to raise."""

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one learn, by name, at ``step`` frames."""

    def close(self) -> None:
        """Flush and leave."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedRun:
    """The run whose metrics are written."""

    project: str
    exp_name: str
    run_dir: Path
    """Folder of the run; sinks keep their files in it."""
    start_step: int = 0
    """The step restored; numbers after it from an earlier process are superseded."""
    total_steps: int | None = None
    resumed: bool = False
    """Whether an earlier process wrote into the same folder."""
    mode: Literal["online", "offline"] = "online"
    """Whether SwanLab and W&B talk to their servers."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What the run was made from, as plain data."""
