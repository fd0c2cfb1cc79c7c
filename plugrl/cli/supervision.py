"""A server process and its env clients, started, restarted and stopped together."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Protocol, TypeVar

from plugrl.cli.child_process import SIGNAL_EXIT_CODE, Child, ChildCommand
from plugrl.cli.disk_thread import DiskThread
from plugrl.cli.entry import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_STOPPED, EXIT_USAGE
from plugrl.cli.restarts import NO_RESTARTS, RestartBudget, RestartConfig
from plugrl.server.signals import EchoFilter
from plugrl.training.tracking.tracker import CLOSE_TIMEOUT_S

logger = logging.getLogger(__name__)

SERVER_GRACE_S = CLOSE_TIMEOUT_S + 15.0
"""How long the server may take to end by itself once the clients have ended in peace: its trackers
may be closing, and a signal would cut them off."""
CLIENTS_GRACE_S = 5.0
"""How long the clients may take to end by themselves once the server has all it wanted."""
FAILED_GRACE_S = 1.0
"""How long one side may take once the other has failed, or the clients after a stop."""
TERM_GRACE_S = 10.0
"""How long the clients may take after SIGTERM, before SIGKILL."""
DISK_TIMEOUT_S = 5.0
"""How long a look at the checkpoints may take; what was known before has to do then."""

ON_REQUEST = "stopped on request"

T = TypeVar("T")


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
    began: bool = True
    """Whether a server was up before a stop: if not, there may be nothing to go on with."""


class Plan(Protocol):
    """What is to be supervised."""

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        """The server of an attempt; from the second on at ``port``, where its clients look.

        Called beside the event loop: it may look at the disk.
        """

    def clients(self, url: str) -> ChildCommand | None:
        """The env clients of a server at ``url``; None where they come from elsewhere."""

    def newest_step(self) -> int | None:
        """The step of the newest checkpoint, if there is one; called beside the event loop too."""


class Onlooker:
    """Told of all that happens to a run; this one does nothing with it.

    The supervisor waits for what it awaits: that must have a limit.
    """

    async def begins(self, attempt: int) -> None:
        """An attempt is about to begin."""

    def started(self, attempt: int, pid: int) -> None:
        """The server's process is there."""

    def listening(self, attempt: int, url: str) -> None:
        """Clients can connect to the server."""

    async def ended(self, ending: Ending, *, pause_s: float | None) -> None:
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
        self._disk = DiskThread()
        self._stop = asyncio.Event()
        self._stop_reason: str | None = None
        self._stop_code = 0
        """The exit code where a stop came before anything was begun."""
        self._server: Child | None = None
        self._clients: Child | None = None
        self._clients_url: str | None = None
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
            pause_s = await self._pause_after(ending)
            await self._onlooker.ended(ending, pause_s=pause_s)
            if pause_s is None:
                return ending
            logger.error(
                "attempt %d failed: %s; the next one begins in %.1f s",
                *(attempt, ending.reason, pause_s),
            )
            if await self._stops_within(pause_s):
                reason = f"{self._stop_reason}, between two attempts"
                ending = replace(ending, outcome=Outcome.STOPPED, exit_code=0, reason=reason)
                await self._onlooker.ended(ending, pause_s=None)
                return ending

    async def _attempt(self, attempt: int) -> Ending:
        await self._onlooker.begins(attempt)
        self._clients_code = 0
        command = await self._unless_stopped(partial(self._plan.server, attempt, self._port))
        if command is None:
            return self._stopped_before(attempt)
        server = self._server = Child.start(command)
        self._onlooker.started(attempt, server.pid)
        if self._stop.is_set():
            server.signal(signal.SIGTERM)
        url = await server.listening()
        if url is not None:
            self._port = int(url.rpartition(":")[2])
            self._onlooker.listening(attempt, url)
            # With nothing left to train it has concluded by now, and needs no clients.
            if not self._stop.is_set() and server.conclusion is None:
                await self._until_server_ends(server, url)
        return await self._judge(attempt, server, listened=url is not None)

    async def _until_server_ends(self, server: Child, url: str) -> None:
        server_end = asyncio.create_task(server.wait())
        come_back = True
        while come_back and not server_end.done():
            clients = self._clients_of(url)
            if clients is None:
                await server_end
                return
            clients_end = asyncio.create_task(clients.wait())
            await asyncio.wait((server_end, clients_end), return_when=asyncio.FIRST_COMPLETED)
            if not clients_end.done():
                clients_end.cancel()
                return
            clients.kill()
            self._clients = None
            pause_s = await self._clients_pause(clients_end.result())
            come_back = pause_s is not None and not await self._stops_within(pause_s, server_end)
        if not await _ends(server_end, FAILED_GRACE_S if self._clients_code else SERVER_GRACE_S):
            # It saves what there is, and has a limit of its own for that.
            server.signal(signal.SIGTERM)
        await server_end

    def _clients_of(self, url: str) -> Child | None:
        """Our clients of the server at ``url``, started unless they run; None if there are none."""
        if self._clients is not None and url != self._clients_url:
            # The port of the server before is another program's now, and they would go there.
            self._clients.kill()
            self._clients = None
        if self._clients is None and (command := self._plan.clients(url)) is not None:
            self._clients, self._clients_url = Child.start(command), url
        return self._clients

    async def _clients_pause(self, code: int) -> float | None:
        """Seconds before clients that ended with ``code`` are started again; None if not at all."""
        if code == 0 or self._stop.is_set():
            return None
        spent = code == EXIT_USAGE
        pause_s = None if spent else self._clients_budget.spend(await self._newest_step())
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
        reason = await server.last_words() or _how(code)
        if server.is_stopping:
            # A viewer asks the server alone; who wanted an end wants no other attempt.
            self._stop_reason = self._stop_reason or ON_REQUEST
            self._stop.set()
        if code > SIGNAL_EXIT_CODE and server.conclusion is not None:
            # What it had still to do concerns nobody but the process itself.
            logger.warning("%s, after it had saved all there was", reason)
            code = 0 if server.conclusion == Outcome.DONE else EXIT_STOPPED
        if code in (0, EXIT_STOPPED):
            return self._peaceful(attempt, code)
        if self._stop.is_set() and not listened:
            return self._stopped_before(attempt)
        outcome = Outcome.FAILED
        if self._stop.is_set() and code == EXIT_INTERRUPTED:
            outcome, reason = Outcome.STOPPED, f"{self._stop_reason}, and not waited for"
        elif self._stop.is_set() and code > SIGNAL_EXIT_CODE:
            reason = f"{reason} during the stop, before it had saved"
        elif attempt == 1 and not listened and code in (EXIT_FAILED, EXIT_USAGE):
            outcome = Outcome.REFUSED
        return Ending(attempt=attempt, outcome=outcome, exit_code=code, reason=reason)

    def _peaceful(self, attempt: int, code: int) -> Ending:
        """The end of a server that ended well, which the clients may have spoilt."""
        outcome, reason = Outcome.DONE if code == 0 else Outcome.STOPPED, self._stop_reason
        if self._clients_code:
            reason = f"the env clients failed with exit code {self._clients_code}"
            outcome = Outcome.FAILED
        return Ending(attempt=attempt, outcome=outcome, exit_code=self._clients_code, reason=reason)

    def _stopped_before(self, attempt: int) -> Ending:
        """The end of an attempt that was stopped before its server was up."""
        began = attempt > 1
        when = "between two attempts" if began else "before anything was begun"
        if not began:
            logger.warning("stopped before the server was up: nothing was begun")
        return Ending(
            attempt=attempt,
            outcome=Outcome.STOPPED,
            exit_code=0 if began else self._stop_code,
            reason=f"{self._stop_reason}, {when}",
            began=began,
        )

    async def _pause_after(self, ending: Ending) -> float | None:
        if ending.outcome is not Outcome.FAILED or self._stop.is_set() or self._clients_code:
            return None
        return self._budget.spend(await self._newest_step())

    async def _newest_step(self) -> int | None:
        """The newest checkpoint's step; the last known one where the disk can't be read."""
        try:
            look = self._disk.do(self._plan.newest_step)
            self._step = await asyncio.wait_for(look, DISK_TIMEOUT_S)
        except TimeoutError:
            logger.warning("the run's checkpoints can't be looked at: the disk does not answer")
        except OSError as error:
            logger.warning("the run's checkpoints can't be looked at: %s", error)
        return self._step

    async def _unless_stopped(self, work: Callable[[], T]) -> T | None:
        """What ``work`` returns, done beside the event loop; None if a stop comes before."""
        done, stop = self._disk.do(work), asyncio.create_task(self._stop.wait())
        await asyncio.wait((done, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        return None if self._stop.is_set() else done.result()

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
        # Clients that were still starting when a stop was asked for would look for it in vain.
        in_peace = ending.exit_code == 0 and not self._stop.is_set()
        if not await _ends(end, CLIENTS_GRACE_S if in_peace else FAILED_GRACE_S):
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
            if self._stop_reason is None:
                self._stop_reason = f"stopped by {number.name}"
                self._stop_code = SIGNAL_EXIT_CODE + number
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
