"""A launch under supervision: attempts that are recorded in the run's folder and in Prefect."""

import asyncio
import os
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flows import spares
from plugrl.cli.child_process import ChildCommand
from plugrl.cli.chronicle import Chronicle
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.restarts import RestartConfig
from plugrl.cli.supervision import Ending, Onlooker, Supervisor
from plugrl.runs.liveness import own_birth, own_start
from plugrl.runs.provenance import Owner

if TYPE_CHECKING:
    from flows.attempts import AttemptRuns

SERVE_RUN_VARIABLE = "PLUGRL_SERVE_FLOW_RUN"
"""Environment variable with the flow run that a server is to be; empty, it is none."""
CLOSING_TIMEOUT_S = 10.0
"""How long the last records may keep a run that has ended."""


class SupervisedRun(Onlooker):
    """A plan whose servers know who answers for them, and whose attempts are recorded."""

    def __init__(
        self,
        plan: LaunchPlan,
        *,
        runs: "AttemptRuns | None" = None,
        flow_run_id: UUID | None = None,
        flow_run_url: str | None = None,
    ) -> None:
        """Record the attempts of ``plan`` in its folder, and in Prefect by ``runs``.

        Args:
            plan: what is supervised.
            runs: Prefect's records of the attempts.
            flow_run_id: the supervisor's own flow run.
            flow_run_url: its page.
        """
        self._plan = plan
        self._runs = runs
        self._chronicle = Chronicle(plan.run_dir)
        self._owner = Owner(
            pid=os.getpid(),
            pid_started=own_start(),
            pid_birth=own_birth(),
            flow_run_id=None if flow_run_id is None else str(flow_run_id),
            flow_run_url=flow_run_url,
        )
        self._serve_run: UUID | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, restarts: RestartConfig) -> Ending:
        """Supervise to the end; returns how that came."""
        supervisor = Supervisor(self, restarts=restarts, onlooker=self)
        watch = self._spawn(self._stop_when_cancelled(supervisor))
        try:
            return await supervisor.run()
        finally:
            watch.cancel()

    async def close(self) -> None:
        """Give the last records of the attempts a limited time."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_TIMEOUT_S)

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        """The plan's server as a flow run of its own."""
        command = self._plan.server(attempt, port)
        owner = replace(self._owner, attempt=self._chronicle.number(attempt))
        serve_run = "" if self._serve_run is None else str(self._serve_run)
        return replace(
            command,
            module="flows.serve_child",
            provenance=replace(command.provenance, owner=owner),
            variables={**command.variables, SERVE_RUN_VARIABLE: serve_run},
            spare=spares.take(),
        )

    def clients(self, url: str) -> ChildCommand | None:
        """The plan's env clients, if it has any."""
        return self._plan.clients(url)

    def newest_step(self) -> int | None:
        """The step of the newest checkpoint, if there is one."""
        return self._plan.newest_step()

    async def begins(self, attempt: int) -> None:
        """Have a flow run ready for the server."""
        await self._chronicle.begins(attempt)
        self._serve_run = None
        if self._runs is not None:
            number = self._chronicle.number(attempt)
            parameters = {"attempt": number, "run_dir": str(self._plan.run_dir.absolute())}
            self._serve_run = await self._runs.open(attempt, number, parameters)

    def listening(self, attempt: int, url: str) -> None:
        """Take note that the folder is ours."""
        self._chronicle.listening(attempt, url)

    async def ended(self, ending: Ending, *, pause_s: float | None) -> None:
        """Record the end; Prefect's record is closed while the next attempt begins."""
        await self._chronicle.ended(ending, pause_s=pause_s)
        if self._runs is not None:
            self._spawn(self._runs.close(ending))

    async def _stop_when_cancelled(self, supervisor: Supervisor) -> None:
        if self._runs is not None:
            await self._runs.cancelled()
            supervisor.request_stop("cancelled in Prefect")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
