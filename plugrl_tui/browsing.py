"""Pages beside the app, where there is a browser for them."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from textual.app import App

_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")


def open_page(app: App[Any], url: str) -> None:
    """Open ``url`` in the person's browser, or copy it where none can be opened from here."""
    if app.is_web or has_desktop():
        app.open_url(url)
    else:
        app.copy_to_clipboard(url)
        app.notify(f"no browser can be opened from here; copied {url}")


def has_desktop(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a desktop; without, Python would open a text browser in our terminal."""
    return sys.platform in {"darwin", "win32"} or any(map(environ.get, _DESKTOPS))
