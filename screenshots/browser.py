"""A headless Chromium, driven over its DevTools protocol: one page, to be looked at."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

DEADLINE_S = 60.0
LOOK_AGAIN_S = 0.5
MAX_MESSAGE_BYTES = 2**26
"""A picture comes in one message."""


class Page:
    """The page that the browser shows."""

    def __init__(self, connection: ClientConnection) -> None:
        """Speak over ``connection``."""
        self._connection = connection
        self._last_id = 0

    async def resize(self, width: int, height: int) -> None:
        """Give the page a size in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self._call("Emulation.setDeviceMetricsOverride", **size)

    async def open(self, url: str, *holding: str) -> None:
        """Go to ``url`` and wait until its text holds all of ``holding``."""
        await self._call("Page.navigate", url=url)

        async def is_complete() -> bool:
            text = await self._text()
            return all(word in text for word in holding)

        await _until(f"{url} to hold {holding}", is_complete)

    async def click(self, x: int, y: int) -> None:
        """Click at a point."""
        where = {"x": x, "y": y, "button": "left", "clickCount": 1}
        await self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            await self._call("Input.dispatchMouseEvent", type=kind, **where)

    async def picture(self) -> bytes:
        """The page as PNG, once all that moves has come to rest."""
        seen: list[bytes] = []

        async def is_at_rest() -> bool:
            seen.append(await self._shot())
            return seen[-3:] == [seen[-1]] * 3

        await _until("the page to come to rest", is_at_rest)
        return seen[-1]

    async def _text(self) -> str:
        answer = await self._call("Runtime.evaluate", expression="document.body.innerText")
        return str(answer["result"].get("value", ""))

    async def _shot(self) -> bytes:
        return base64.b64decode((await self._call("Page.captureScreenshot"))["data"])

    async def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._last_id += 1
        call = {"id": self._last_id, "method": method, "params": parameters}
        await self._connection.send(json.dumps(call))
        async for message in self._connection:
            answer = json.loads(message)
            if answer.get("id") == self._last_id:
                assert "result" in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
        raise ConnectionError(f"the browser ended during {method}")


@asynccontextmanager
async def browser(*, width: int, height: int) -> AsyncIterator[Page]:
    """A browser with one page of that size in pixels; it ends afterwards."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("chromium is not installed; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="plugrl-chromium-") as profile:
        options = ["--headless=new", "--hide-scrollbars", "--remote-debugging-port=0"]
        options.append(f"--user-data-dir={profile}")
        if os.geteuid() == 0:
            # Chromium's sandbox refuses root; what it opens here is our own.
            options.append("--no-sandbox")
        process = subprocess.Popen(  # noqa: S603, ASYNC220 -- a browser; nothing else runs here
            [program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            async with connect(await _page_url(Path(profile)), max_size=MAX_MESSAGE_BYTES) as link:
                page = Page(link)
                await page.resize(width, height)
                yield page
        finally:
            process.terminate()
            process.wait()


async def _page_url(profile: Path) -> str:
    """Where the page's side of the protocol listens."""
    import httpx

    port_file = profile / "DevToolsActivePort"

    async def is_up() -> bool:
        return port_file.exists() and len(port_file.read_text().splitlines()) == 2

    await _until("the browser to be up", is_up)
    port = port_file.read_text().splitlines()[0]
    async with httpx.AsyncClient(trust_env=False) as client:
        targets = (await client.get(f"http://127.0.0.1:{port}/json/list")).json()
    return str(next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "page"))


async def _until(what: str, holds: Callable[[], Awaitable[bool]]) -> None:
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not await holds():  # noqa: ASYNC110 -- a browser tells nobody of its pixels
                await asyncio.sleep(LOOK_AGAIN_S)
    except TimeoutError:
        raise SystemExit(f"expected {what} within {DEADLINE_S:g} s") from None
