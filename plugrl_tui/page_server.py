"""The server of ``plugrl-tui serve``: textual-serve's, which obeys its own page and no other."""

from aiohttp import web
from textual_serve.server import Server


class PageServer(Server):
    """Refuses what other pages ask for.

    A server on 127.0.0.1 is out of reach for other machines, and not for the pages that this
    machine's browser shows: any of them may open a WebSocket to it, and so press keys. Browsers say
    which page it is.
    """

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Drive an app for the page that this server has sent."""
        own = {self.public_url, self.public_url.replace(self.host, "localhost", 1)}
        origin = request.headers.get("Origin")
        if origin not in own:
            raise web.HTTPForbidden(text=f"expected a page of {self.public_url}, got {origin!r}")
        return await super().handle_websocket(request)
