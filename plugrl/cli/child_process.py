"""A child as its supervisor sees it; ``plugrl.cli.child`` is the other side."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from plugrl.runs.provenance import Provenance

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


class Child:
    """A process in a group of its own, which ends when this process does."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        link: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Hold the process and our end of its link."""
        self.failure: str | None = None
        """Why it is about to end, once it has said so."""
        self._process = process
        self._writer = writer
        self._listening: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._news = asyncio.create_task(self._hear(link))

    @classmethod
    async def start(cls, command: ChildCommand) -> Self:
        """Start ``command``."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", command.module, str(theirs.fileno()), command.provenance.to_json()),
                *(command.name, *command.argv),
                env={**os.environ, **command.variables},
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        return cls(process, reader, writer)

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
        code = await self._process.wait()
        return code if code >= 0 else SIGNAL_EXIT_CODE - code

    async def last_words(self) -> str | None:
        """Why it ended, if it said so; to be asked once it has."""
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
        self._writer.close()

    async def _hear(self, link: asyncio.StreamReader) -> None:
        try:
            async for line in link:
                news = json.loads(line)
                if "listening" in news and not self._listening.done():
                    self._listening.set_result(news["listening"])
                self.failure = news.get("failed", self.failure)
        except OSError:
            pass
        finally:
            if not self._listening.done():
                self._listening.set_result(None)
