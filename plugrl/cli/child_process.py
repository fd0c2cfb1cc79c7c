"""A child as its supervisor sees it; ``plugrl.cli.child`` is the other side."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from plugrl.runs.provenance import Provenance

WARM = ("--warm", "run-server")
"""Arguments that a spare begins with; the rest are uids that its server is likely to need.

It makes itself ready, and waits for a server's arguments on its link.
"""
SIGNAL_EXIT_CODE = 128
"""What shells add to the number of the signal that ended a process."""


@dataclass(frozen=True, kw_only=True)
class ChildCommand:
    """What a child is to do."""

    name: str
    """``run-server`` or ``run-env-client``."""
    argv: Sequence[str]
    """Its arguments."""
    provenance: Provenance
    """The command that a person typed, which the child speaks of as its own, and who answers."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, beside this process's."""
    module: str = "plugrl.cli.child"
    """The module that runs it."""
    spare: "Spare | None" = None
    """A process that waits for it, if there is one."""

    def arguments(self) -> list[str]:
        """Those of the child's process, behind its descriptor."""
        return [self.provenance.to_json(), self.name, *self.argv]


class Spare:
    """A process that has made itself ready, before anybody knew what it is to do."""

    def __init__(self, module: str, uids: Sequence[str] = ()) -> None:
        """Start ``module``; ``uids`` are of the policy and the algorithm, where they are known."""
        self.process, self.link = _spawn(module, (*WARM, *uids), {})

    def order(self, command: ChildCommand) -> None:
        """Say what it is to do.

        Raises:
            OSError: it has ended.
        """
        order = [dict(command.variables), command.arguments()]
        self.link.sendall(f"{json.dumps(order)}\n".encode())

    def end(self) -> None:
        """End it: nobody needs it."""
        self.process.kill()
        self.process.wait()
        self.link.close()


class Child:
    """A process in a group of its own, which ends when this process does."""

    def __init__(self, process: "subprocess.Popen[bytes]", link: socket.socket) -> None:
        """Hold the process and our end of its link."""
        self.failure: str | None = None
        """Why it is about to end, once it has said so."""
        self.conclusion: str | None = None
        """``done`` or ``stopped``, once its loop has ended and all that there was is saved."""
        self.is_stopping = False
        """Whether somebody has asked it to stop, who need not have asked us."""
        self._process = process
        self._link = link
        loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = loop.create_future()
        self._listening: asyncio.Future[str | None] = loop.create_future()
        self._news = asyncio.create_task(self._hear())
        threading.Thread(target=self._reap, args=(loop,), daemon=True).start()

    @classmethod
    def start(cls, command: ChildCommand) -> Self:
        """Start ``command``."""
        spare = command.spare
        if spare is not None and spare.process.poll() is None:
            with contextlib.suppress(OSError):
                spare.order(command)
                return cls(spare.process, spare.link)
        return cls(*_spawn(command.module, command.arguments(), command.variables))

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_listening(self) -> bool:
        """Whether clients can connect, and signals are heard."""
        return self._listening.done() and self._listening.result() is not None

    async def listening(self) -> str | None:
        """The URL where the child listens; None if it ends without that."""
        return await self._listening

    async def wait(self) -> int:
        """The exit code; 128 and the signal's number where a signal ended it."""
        code = await asyncio.shield(self._ended)
        return code if code >= 0 else SIGNAL_EXIT_CODE - code

    async def last_words(self) -> str | None:
        """Why it ended, if it said so; to be asked once it has, and then all its news are here."""
        await asyncio.wait((self._news,), timeout=1.0)
        return self.failure

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def kill(self) -> None:
        """End the child and all that it has started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._news.cancel()

    def _reap(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        # Nobody is left to tell where the loop is closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, code)

    def _end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    async def _hear(self) -> None:
        link, writer = await asyncio.open_connection(sock=self._link)
        try:
            async for line in link:
                news = json.loads(line)
                if "listening" in news and not self._listening.done():
                    self._listening.set_result(news["listening"])
                self.is_stopping |= news.get("stopping", False)
                self.failure = news.get("failed", self.failure)
                self.conclusion = news.get("concluded", self.conclusion)
        except OSError:
            pass
        finally:
            writer.close()
            if not self._listening.done():
                self._listening.set_result(None)


def _spawn(
    module: str, arguments: Sequence[str], variables: Mapping[str, str]
) -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(  # noqa: S603 -- our own module
            [sys.executable, "-m", module, str(theirs.fileno()), *arguments],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            process_group=0,
        )
    return process, ours
