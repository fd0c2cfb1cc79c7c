"""Viewers: one snapshot a tick for all of them, commands from those who may."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from plugrl.server.loop import Loop

logger = logging.getLogger(__name__)

PATH = "/monitor"
TICK_S = 0.25
"""Seconds between two snapshots."""
MAX_COMMAND_BYTES = 4096


class Monitor:
    """Streams snapshots while there are viewers; a slow one misses ticks and slows nobody."""

    def __init__(self, loop: Loop, snapshot: Callable[[], dict[str, Any]]) -> None:
        """Show ``snapshot``; hand commands to ``loop``."""
        self._loop = loop
        self._snapshot = snapshot
        self.num_viewers = 0
        self._next: asyncio.Future[str] | None = None

    async def serve(self, viewer: ServerConnection, *, may_command: bool) -> None:
        """Stream to one viewer until it leaves.

        Args:
            viewer: an open connection.
            may_command: whether its ``{"command": "save" | "stop"}`` is obeyed.
        """
        self.num_viewers += 1
        commands = asyncio.create_task(self._obey(viewer, may_command=may_command))
        try:
            await viewer.send(self._encoded())
            while True:
                await viewer.send(await asyncio.shield(self._tick()))
        except ConnectionClosed:
            pass
        finally:
            self.num_viewers -= 1
            commands.cancel()

    def _tick(self) -> "asyncio.Future[str]":
        if self._next is None or self._next.done():
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            loop.call_later(TICK_S, self._publish, self._next)
        return self._next

    def _publish(self, tick: "asyncio.Future[str]") -> None:
        tick.set_result(self._encoded())

    def _encoded(self) -> str:
        return json.dumps(self._snapshot(), separators=(",", ":"), allow_nan=False)

    async def _obey(self, viewer: ServerConnection, *, may_command: bool) -> None:
        try:
            async for text in viewer:
                await viewer.send(json.dumps(self._reply(text, may_command=may_command)))
        except ConnectionClosed:
            pass

    def _reply(self, text: str | bytes, *, may_command: bool) -> dict[str, str]:
        command = _command(text)
        commands = {"save": self._loop.request_save, "stop": self._loop.request_stop}
        if command not in commands:
            return {"error": f"expected a command of {sorted(commands)}, got {command!r}"}
        if not may_command:
            return {"error": f"{command!r} needs the server's key, or a loopback address"}
        logger.info("a viewer asked for %s", command)
        commands[command]()
        return {"accepted": command}


def _command(text: str | bytes) -> str | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    command = message.get("command") if isinstance(message, dict) else None
    return command if isinstance(command, str) else None
