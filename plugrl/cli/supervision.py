"""A server process and its env clients, started, restarted and stopped together."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from plugrl.cli.child_process import SIGNAL_EXIT_CODE, Child, ChildCommand
from plugrl.cli.entry import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_STOPPED, EXIT_USAGE
from plugrl.cli.restarts import NO_RESTARTS, RestartBudget, RestartConfig
from plugrl.server.signals import EchoFilter
from plugrl.training.tracking.tracker import CLOSE_TIMEOUT_S

logger = logging.getLogger(__name__)

SERVER_GRACE_S = CLOSE_TIMEOUT_S + 15.0
"""How long the server may take to end by itself once the clients have ended in peace: its trackers
may be closing, and a signal would cut them off."""
CLIENTS_GRACE_S = 5.0
"""How long the clients may take to end by themselves once the server has ended in peace."""
FAILED_GRACE_S = 1.0
"""How long one side may take once the other has failed."""
TERM_GRACE_S = 10.0
"""How long the clients may take after SIGTERM, before SIGKILL."""


class Outcome(StrEnum):
    """How an attempt, or the whole of them, ended."""

    DONE = "done"
    """The algorithm has all it wanted."""
    STOPPED = "stopped"
    """Somebody asked, and what there was is saved."""
    REFUSED = "refused"
    """It could not begin as it was asked for; another attempt would be refused again."""
    FAILED = "failed"
    """It ended with an error or died."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The end of an attempt."""

    attempt: int
    """From 1."""
    outcome: Outcome
    exit_code: int
    """The server's, or the clients' where they failed and the server did not; 0 after a stop."""
    reason: str | None = None
    """Why, where it is no peaceful end."""


class Plan(Protocol):
    """What is to be supervised."""

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        """The server of an attempt; from the second on at ``port``, where its clients look."""

    def clients(self, url: str) -> ChildCommand:
        """The env clients of a server at ``url``."""

    def newest_step(self) -> int | None:
        """The step of the newest checkpoint, if there is one."""


class Onlooker:
    """Told of all that happens to a run; this one does nothing with it."""

    async def begins(self, attempt: int) -> None:
        """An attempt is about to begin."""

    def started(self, attempt: int, pid: int) -> None:
        """The server's process is there."""

    def listening(self, attempt: int, url: str) -> None:
        """Clients can connect to the server."""

    def ended(self, ending: Ending, *, pause_s: float | None) -> None:
        """An attempt has ended; another follows after ``pause_s``, if that is not None."""


class Supervisor:
    """Runs a plan to its end: one attempt, or as many as the restarts allow."""

    def __init__(
        self,
        plan: Plan,
        *,
        restarts: RestartConfig = NO_RESTARTS,
        onlooker: Onlooker | None = None,
    ) -> None:
        """Supervise ``plan``; ``run`` starts."""
        self._plan = plan
        self._budget = RestartBudget(restarts)
        self._clients_budget = RestartBudget(restarts)
        self._onlooker = onlooker or Onlooker()
        self._stop = asyncio.Event()
        self._stop_reason: str | None = None
        self._server: Child | None = None
        self._clients: Child | None = None
        self._clients_code = 0
        self._port: int | None = None
        self._step: int | None = None

    async def run(self) -> Ending:
        """Run until the server ends for good; no process of ours is left then.

        The first SIGINT or SIGTERM stops the server gracefully, the second kills everything.
        """
        try:
            with self._signals():
                ending = await self._attempts()
                await self._end_clients(ending)
                return ending
        finally:
            for child in (self._server, self._clients):
                if child is not None:
                    child.kill()

    def request_stop(self, reason: str) -> None:
        """Stop gracefully; to be called on the event loop. Twice is once."""
        if not self._stop.is_set():
            self._stop_reason = reason
            self._stop.set()
            if self._server is not None:
                self._server.signal(signal.SIGTERM)

    async def _attempts(self) -> Ending:
        """One attempt after another; returns how the last one ended."""
        attempt = 0
        while True:
            attempt += 1
            ending = await self._attempt(attempt)
            pause_s = self._pause_after(ending)
            self._onlooker.ended(ending, pause_s=pause_s)
            if pause_s is None:
                return ending
            logger.error(
                "attempt %d failed: %s; the next one begins in %.1f s",
                *(attempt, ending.reason, pause_s),
            )
            if await self._stops_within(pause_s):
                reason = f"{self._stop_reason}, between two attempts"
                ending = replace(ending, outcome=Outcome.STOPPED, exit_code=0, reason=reason)
                self._onlooker.ended(ending, pause_s=None)
                return ending

    async def _attempt(self, attempt: int) -> Ending:
        await self._onlooker.begins(attempt)
        self._clients_code = 0
        server = self._server = Child.start(self._plan.server(attempt, self._port))
        self._onlooker.started(attempt, server.pid)
        if self._stop.is_set():
            server.signal(signal.SIGTERM)
        url = await server.listening()
        if url is not None:
            self._port = int(url.rpartition(":")[2])
            self._onlooker.listening(attempt, url)
            if not self._stop.is_set():
                await self._until_server_ends(server, url)
        elif self._stop.is_set():
            logger.warning("stopped before the server was up: nothing was begun")
        return await self._judge(attempt, server, listened=url is not None)

    async def _until_server_ends(self, server: Child, url: str) -> None:
        server_end = asyncio.create_task(server.wait())
        come_back = True
        while come_back and not server_end.done():
            if self._clients is None:
                self._clients = Child.start(self._plan.clients(url))
            clients_end = asyncio.create_task(self._clients.wait())
            await asyncio.wait((server_end, clients_end), return_when=asyncio.FIRST_COMPLETED)
            if not clients_end.done():
                clients_end.cancel()
                return
            self._clients.kill()
            self._clients = None
            pause_s = self._clients_pause(clients_end.result())
            come_back = pause_s is not None and not await self._stops_within(pause_s, server_end)
        if not await _ends(server_end, FAILED_GRACE_S if self._clients_code else SERVER_GRACE_S):
            # It saves what there is, and has a limit of its own for that.
            server.signal(signal.SIGTERM)
        await server_end

    def _clients_pause(self, code: int) -> float | None:
        """Seconds before clients that ended with ``code`` are started again; None if not at all."""
        if code == 0 or self._stop.is_set():
            return None
        spent = code == EXIT_USAGE
        pause_s = None if spent else self._clients_budget.spend(self._newest_step())
        if pause_s is None:
            logger.error("the env clients failed with exit code %d", code)
            self._clients_code = code
            return None
        logger.error(
            "the env clients failed with exit code %d; they begin again in %.1f s", code, pause_s
        )
        return pause_s

    async def _judge(self, attempt: int, server: Child, *, listened: bool) -> Ending:
        code = await server.wait()
        if code in (0, EXIT_STOPPED):
            if self._clients_code:
                reason = f"the env clients failed with exit code {self._clients_code}"
                return Ending(
                    attempt=attempt,
                    outcome=Outcome.FAILED,
                    exit_code=self._clients_code,
                    reason=reason,
                )
            outcome = Outcome.DONE if code == 0 else Outcome.STOPPED
            return Ending(attempt=attempt, outcome=outcome, exit_code=0, reason=self._stop_reason)
        reason = await server.last_words() or _how(code)
        outcome = Outcome.FAILED
        if self._stop.is_set() and (code == EXIT_INTERRUPTED or not listened):
            outcome, reason = Outcome.STOPPED, f"{self._stop_reason}, and not waited for"
        elif attempt == 1 and not listened and code in (EXIT_FAILED, EXIT_USAGE):
            outcome = Outcome.REFUSED
        return Ending(attempt=attempt, outcome=outcome, exit_code=code, reason=reason)

    def _pause_after(self, ending: Ending) -> float | None:
        if ending.outcome is not Outcome.FAILED or self._stop.is_set() or self._clients_code:
            return None
        return self._budget.spend(self._newest_step())

    def _newest_step(self) -> int | None:
        """The newest checkpoint's step; the last known one where the disk can't be read."""
        try:
            self._step = self._plan.newest_step()
        except OSError as error:
            logger.warning("the run's checkpoints can't be looked at: %s", error)
        return self._step

    async def _stops_within(self, pause_s: float, *ends: "asyncio.Task[int]") -> bool:
        """Whether somebody asks for a stop in that time, which is over when one of ``ends`` is."""
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait((stop, *ends), timeout=pause_s, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        return self._stop.is_set()

    async def _end_clients(self, ending: Ending) -> None:
        """Let the clients end, which the server has told why it did if it could."""
        if self._clients is None:
            return
        end = asyncio.create_task(self._clients.wait())
        if not await _ends(end, CLIENTS_GRACE_S if ending.exit_code == 0 else FAILED_GRACE_S):
            self._clients.signal(signal.SIGTERM)
            await _ends(end, TERM_GRACE_S)
        end.cancel()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        echo = EchoFilter()

        def pass_on(number: signal.Signals) -> None:
            if echo.is_echo():
                return
            self._stop_reason = self._stop_reason or f"stopped by {number.name}"
            if self._server is not None:
                # The server leaves at once on the second signal, and we follow it. While it still
                # imports its modules, SIGINT would be a traceback.
                self._server.signal(number if self._server.is_listening else signal.SIGTERM)
            self._stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, pass_on, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


async def _ends(end: "asyncio.Task[int]", within_s: float) -> bool:
    await asyncio.wait((end,), timeout=within_s)
    return end.done()


def _how(code: int) -> str:
    if code <= SIGNAL_EXIT_CODE:
        return f"the server ended with exit code {code}"
    number = code - SIGNAL_EXIT_CODE
    known = number in {int(each) for each in signal.Signals}
    return f"the server was ended by {signal.Signals(number).name if known else code}"
