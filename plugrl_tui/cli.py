"""``plugrl-tui``: the arguments first, Textual only once a screen is wanted."""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from plugrl.cli.entry import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    broken_pipe,
    mend_streams,
)
from plugrl.cli.nearest_flag import FlagParser
from plugrl.errors import PlugRLError, UsageError

if TYPE_CHECKING:
    from plugrl_tui.core.feed import Access

PROG = "plugrl-tui"
_PORT = 8780
_EVERY_S = 5.0
_KEY_FILE_BITS_OF_OTHERS = 0o077
_DESCRIPTION = "Choose, launch and watch training runs. Without a command: all runs, as a screen."
_TARGET = "a run's name, its folder, or its server's address such as ws://gpu-box:8000"


def main() -> NoReturn:
    """The console script."""
    mend_streams()
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Do what the arguments say; what can't be done becomes a sentence and an exit code."""
    arguments = _parser().parse_args(argv)
    command: Callable[[Any], int] = _COMMANDS[arguments.command]
    try:
        return command(arguments)
    except UsageError as error:
        return _complain(error, EXIT_USAGE)
    except BrokenPipeError:
        return broken_pipe()
    except (PlugRLError, OSError) as error:
        return _complain(error, EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _runs_screen(arguments: Any) -> int:
    if arguments.demo:
        return _screen(arguments, "monitor", target="demo")
    if not _has_screen():
        return _list_runs(arguments)
    return _screen(arguments, "runs")


def _attach(arguments: Any) -> int:
    if not _has_screen():
        return _watch_plain(arguments)
    from plugrl_tui.core.attach import attach

    # Before the screen opens, as a person then still sees what was typed.
    attached = attach(arguments.target, _access(arguments))
    return _screen(arguments, "monitor", attached=attached)


def _watch(arguments: Any) -> int:
    return _watch_plain(arguments) if arguments.plain else _attach(arguments)


def _watch_plain(arguments: Any) -> int:
    import asyncio

    from plugrl_tui.plain import watch

    return asyncio.run(watch(arguments.target, _access(arguments), every_s=arguments.every))


def _list_runs(arguments: Any) -> int:
    from plugrl_tui.plain import list_runs

    return list_runs(as_json=arguments.json)


def _doctor(_arguments: Any) -> int:
    from plugrl_tui.doctor import run as examine

    return examine()


def _serve(arguments: Any) -> int:
    from plugrl_tui.serve import serve

    return serve(arguments.port, arguments.imports)


def _screen(arguments: Any, screen: str, **options: Any) -> int:
    # Nothing of what is made for the first picture is garbage; looking for some delays it.
    gc.disable()
    _log_to_file()
    from plugrl_tui.app import PlugRLApp, Start

    start = Start(
        screen=screen,
        options=options,
        ascii_only=arguments.ascii,
        theme=arguments.theme,
        imports=tuple(arguments.imports),
    )
    app = PlugRLApp(start)
    gc.freeze()
    gc.enable()
    app.run()
    return app.return_code or 0


def _has_screen() -> bool:
    # Textual reads from stdin and draws on stderr; a person who pipes stdout wants text.
    # A page of plugrl-tui serve is a screen, too, that is reached by pipes.
    return _is_page() or all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _is_page() -> bool:
    """Whether this is the app of a page in a browser."""
    return bool(os.environ.get("TEXTUAL_DRIVER"))


def _log_to_file() -> None:
    """What goes wrong is told in the user's folder, as the terminal belongs to the screens."""
    import logging

    from plugrl.runs.home import home

    path = home() / "plugrl-tui.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s"
    )


def _access(arguments: Any) -> "Access":
    from plugrl_tui.core.feed import Access

    return Access(api_key=_key_in(arguments.key_file), tls_ca=arguments.tls_ca)


def _key_in(path: Path | None) -> str | None:
    if path is None:
        return None
    if path.stat().st_mode & _KEY_FILE_BITS_OF_OTHERS:
        raise UsageError(f"expected a key that only you can read, others can: chmod 600 {path}")
    try:
        return path.read_text("utf-8").strip() or None
    except UnicodeDecodeError as error:
        raise UsageError(f"expected a key as text, got {error.reason}, at {path}") from error


def _complain(error: Exception, code: int) -> int:
    sys.stderr.write(f"{PROG}: error: {error}\n")
    return code


def _parser() -> argparse.ArgumentParser:
    looks = FlagParser(add_help=False)
    group = looks.add_argument_group("looks")
    group.add_argument(
        "--ascii",
        action="store_true",
        default=argparse.SUPPRESS,
        help="only signs of seven bits, for terminals and fonts without others",
    )
    group.add_argument(
        "--theme", metavar="NAME", default=argparse.SUPPRESS, help="colours; T changes them, too"
    )
    parser = FlagParser(prog=PROG, description=_DESCRIPTION, parents=[looks])
    parser.add_argument("--demo", action="store_true", help="a made-up run, for a first look")
    parser.add_argument(
        "--import",
        action="append",
        default=[],
        dest="imports",
        metavar="MODULE",
        help="registers names of your own, to be chosen for new runs; may be repeated",
    )
    parser.set_defaults(command=None, ascii=False, theme=None, json=False, every=_EVERY_S)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    attach = commands.add_parser("attach", parents=[looks], help="watch one run")
    watch = commands.add_parser("watch", parents=[looks], help="the same; --plain as lines of text")
    watch.add_argument("--plain", action="store_true", help="lines of text, no screen")
    watch.add_argument(
        "--every",
        type=float,
        default=_EVERY_S,
        metavar="SECONDS",
        help="at most one line in so long",
    )
    for one_run in (attach, watch):
        _add_target(one_run)
    runs = commands.add_parser("runs", help="all runs, as text")
    runs.add_argument("--json", action="store_true", help="as JSON")
    commands.add_parser("doctor", help="what works here, and what to do about the rest")
    serve = commands.add_parser("serve", help="the app in a browser on this machine")
    serve.add_argument("--port", type=int, default=_PORT, help=f"default: {_PORT}")
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="URL|RUN", help=_TARGET)
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="holds the server's key and is yours alone; or set PLUGRL_API_KEY",
    )
    parser.add_argument(
        "--tls-ca", type=Path, metavar="FILE", help="a certificate to trust, for wss://"
    )


_COMMANDS: dict[str | None, Callable[[Any], int]] = {
    None: _runs_screen,
    "attach": _attach,
    "watch": _watch,
    "runs": _list_runs,
    "doctor": _doctor,
    "serve": _serve,
}
