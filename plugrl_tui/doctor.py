"""``plugrl-tui doctor``: what works here, what doesn't, and what to do about that."""

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from plugrl import __version__
from plugrl.errors import PlugRLError
from plugrl.runs.catalog import find_runs
from plugrl.runs.home import home
from plugrl.runs.prefect_api import is_healthy, known_url
from plugrl_tui.core import glyphs
from plugrl_tui.plain import write

_SMALL = (80, 24)


class Finding(NamedTuple):
    """What one look found."""

    what: str
    ok: bool
    """Whether all of the app works as far as this goes."""
    text: str
    """What is there, and the remedy where it is not enough."""


def run() -> int:
    """Write what was found; returns 1 where something does not work."""
    findings = [finding for look in _LOOKS for finding in look()]
    for finding in findings:
        sign = glyphs.CHECK if finding.ok else glyphs.CROSS
        line = f"{sign} {finding.what:<12} {finding.text}"
        encoding = sys.stdout.encoding or "ascii"
        write(line if _can_say(line, encoding) else glyphs.ascii_only(line))
    return int(not all(finding.ok for finding in findings))


def _versions() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("plugrl", ok=True, text=f"{__version__}, Python {python}")
    for package, needed_for in (
        ("textual", "the app; pip install 'plugrl[tui]'"),
        ("textual-serve", "plugrl-tui serve; pip install 'plugrl[tui]'"),
        ("torch", "training on this machine; pip install 'plugrl[server]'"),
        ("prefect", "runs that are retried; pip install 'plugrl[flows]'"),
    ):
        try:
            yield Finding(package, ok=True, text=importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(package, ok=False, text=f"not installed: needed for {needed_for}")


def _terminal() -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield Finding("terminal", ok=True, text="none here: the app writes plain text")
        return
    columns, lines = shutil.get_terminal_size()
    text = f"{columns}x{lines}, TERM={os.environ.get('TERM', '')}"
    enough = columns >= _SMALL[0] and lines >= _SMALL[1]
    remedy = "" if enough else f"; {_SMALL[0]}x{_SMALL[1]} shows every pane"
    yield Finding("terminal", ok=enough, text=text + remedy)
    encoding = sys.stdout.encoding or "ascii"
    able = _can_say(glyphs.SPARKS, encoding)
    remedy = "" if able else "; use plugrl-tui --ascii"
    yield Finding("signs", ok=able, text=f"{encoding}{remedy}")


def _folders() -> Iterator[Finding]:
    folder = home()
    refusal = _why_not_written(folder)
    remedy = f" can't be written ({refusal}): give PLUGRL_HOME another folder"
    yield Finding("home", ok=refusal is None, text=f"{folder}{remedy if refusal else ''}")
    try:
        runs = find_runs()
    except (OSError, PlugRLError) as error:
        yield Finding("runs", ok=False, text=str(error))
        return
    yield Finding("runs", ok=True, text=f"{len(runs.found)} known")
    for skipped in runs.skipped:
        yield Finding("run", ok=False, text=f"left out: {skipped.reason}")


def _why_not_written(folder: Path) -> str | None:
    """Tried with a byte, which is gone again; a folder that is not there yet is not made."""
    try:
        above = next(path for path in (folder, *folder.parents) if path.exists())
        with tempfile.NamedTemporaryFile(dir=above, buffering=0) as file:
            file.write(b"0")
    except OSError as error:
        return error.strerror or str(error)
    return None


def _settings() -> Iterator[Finding]:
    from plugrl_tui import themes
    from plugrl_tui.actions import every_action
    from plugrl_tui.core import config

    try:
        config.load((action.id for action in every_action()), themes.known())
    except PlugRLError as error:
        yield Finding("settings", ok=False, text=str(error))
    else:
        yield Finding("settings", ok=True, text=str(config.config_path()))


def _prefect() -> Iterator[Finding]:
    url = known_url()
    if url is None:
        yield Finding("history", ok=True, text="no Prefect API yet; plugrl ui starts one here")
    elif is_healthy(url):
        yield Finding("history", ok=True, text=f"Prefect answers at {url}")
    else:
        text = f"no answer from Prefect at {url}; runs train without it, their history has a gap"
        yield Finding("history", ok=False, text=text)


def _can_say(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


_LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _versions,
    _terminal,
    _folders,
    _settings,
    _prefect,
)
