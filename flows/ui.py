"""``plugrl ui``: the pages of the Prefect API that remembers runs."""

import os
import sys
import webbrowser
from collections.abc import Sequence

from flows import api
from plugrl.cli.entry import EXIT_FAILED, write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.errors import UsageError
from plugrl.runs import catalog, prefect_api

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Variables of which one is set where a browser can be seen."""


def run(argv: Sequence[str], prog: str) -> int:
    """Start the local API if need be, and open its pages; returns the exit code.

    Raises:
        ApiUnavailableError: it can't be started.
        UsageError: RUN has no page.
    """
    parser = FlagParser(
        prog=prog,
        description="Open the pages that show runs, their attempts and checkpoints; starts the "
        "local Prefect API where it is not up.",
    )
    parser.add_argument("run", nargs="?", metavar="RUN", help="open the page of this run")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--no-open", action="store_true", help="only print the address")
    what.add_argument("--status", action="store_true", help="say whether the API is up")
    what.add_argument("--stop", action="store_true", help="end the local API; runs go on")
    arguments = parser.parse_args(list(argv))
    if arguments.stop:
        return _stop()
    if arguments.status:
        return _status()
    page = _page(api.require_api(), arguments.run)
    write(page)
    if not arguments.no_open and _has_screen():
        webbrowser.open(page)
    return 0


def _page(api_url: str, run: str | None) -> str:
    if run is None:
        return prefect_api.ui_url(api_url)
    status = catalog.find_run(run).status
    if status is None or status.flow_run_id is None:
        raise UsageError(f"expected a run that Prefect knows, got {run!r}, begun without it")
    return prefect_api.flow_run_page(api_url, status.flow_run_id)


def _stop() -> int:
    if (given := prefect_api.given_api()) is not None:
        raise UsageError(f"{given.origin} names an API that is not ours to stop")
    write("the local Prefect API has ended" if api.stop() else "no local Prefect API was up")
    return 0


def _status() -> int:
    url = prefect_api.known_url()
    if url is None:
        write("no local Prefect API is up; it starts with the next run, or with plugrl ui")
        return EXIT_FAILED
    up = prefect_api.is_healthy(url)
    server = prefect_api.local_server()
    pid = f", pid {server.pid}" if server is not None and server.url == url else ""
    write(f"{url} {'is up' if up else 'does not answer'}{pid}")
    return 0 if up else EXIT_FAILED


def _has_screen() -> bool:
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in SCREENS)
