"""The stages of a start, read off the run's folder and the process that was started."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plugrl.errors import RunRecordError
from plugrl.runs.records import RunState, RunStatus, read_status
from plugrl_tui.core.launcher import Launched
from plugrl_tui.core.stages import Progress, Stage

_RECORDED = "Beginning flow run"
"""Prefect's own words, in the run's log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How a start is at one moment."""

    stages: tuple[Stage, ...]
    listening: bool
    """Whether there is a run to be watched."""
    complaint: str | None
    """Why it has ended before that."""


class Start:
    """Follows one start."""

    def __init__(
        self,
        launched: Launched,
        *,
        with_prefect: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Follow a start.

        Args:
            launched: what was started just now.
            with_prefect: whether it is to be recorded in Prefect, whose API may have to start too.
            clock: tells the seconds since the epoch.
        """
        self.launched = launched
        self._with_prefect = with_prefect
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self._clock() - self._began

    def look(self) -> Look:
        """How it is now."""
        status = self._status()
        code = self.launched.exit_code()
        listening = status is not None
        served = status is not None and status.state is not RunState.WAITING
        failed = code is not None and not listening
        reached = {f"process {self.launched.pid}, in a session of its own": True}
        if self._with_prefect:
            reached["Prefect's API answers"] = listening or self._is_recorded()
        reached["policy and algorithm made, server listening"] = listening
        reached["first env client connected"] = served
        return Look(
            stages=_stages(reached, failed=failed),
            listening=listening,
            complaint=self.launched.complaint() if failed else None,
        )

    def _is_recorded(self) -> bool:
        return any(_RECORDED in line for line in self.launched.output())

    def _status(self) -> RunStatus | None:
        """The status that this start wrote, and none of an earlier one's."""
        try:
            status = read_status(self.launched.run_dir)
        except (FileNotFoundError, RunRecordError):
            return None
        ours = status.updated_at >= self._began - 1 and status.state is not RunState.STARTING
        return status if ours else None


def _stages(reached: Mapping[str, bool], *, failed: bool) -> tuple[Stage, ...]:
    stages = []
    current = True
    for text, done in reached.items():
        if done:
            progress = Progress.DONE
        elif current:
            progress = Progress.FAILED if failed else Progress.NOW
            current = False
        else:
            progress = Progress.AHEAD
        stages.append(Stage(text, progress))
    return tuple(stages)
