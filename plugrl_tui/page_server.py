"""The server of ``plugrl-tui serve``: textual-serve's, which obeys its own page and no other."""

import asyncio

from aiohttp import web
from textual_serve.server import Server


class PageServer(Server):
    """Refuses what other pages ask for.

    A server on 127.0.0.1 is out of reach for other machines, and not for the pages that this
    machine's browser shows: any of them may open a WebSocket to it, and so press keys. Browsers say
    which page it is.
    """

    def __init__(self, command: str, *, host: str, port: int, title: str) -> None:
        """Serve the app that ``command`` starts for every page."""
        super().__init__(command, host=host, port=port, title=title)
        self._pages: set[asyncio.Task[object]] = set()

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Drive an app for the page that this server has sent."""
        own = {self.public_url, self.public_url.replace(self.host, "localhost", 1)}
        origin = request.headers.get("Origin")
        if origin not in own:
            raise web.HTTPForbidden(text=f"expected a page of {self.public_url}, got {origin!r}")
        page = asyncio.current_task()
        assert page is not None
        self._pages.add(page)
        try:
            return await super().handle_websocket(request)
        finally:
            self._pages.discard(page)

    async def on_shutdown(self, app: web.Application) -> None:
        """End the apps of all pages, which would else be waited for as long as they are open."""
        del app
        for page in self._pages:
            page.cancel()
