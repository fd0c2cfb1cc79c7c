"""``plugrl-tui``: the arguments first, Textual only once a screen is wanted."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

PROG = "plugrl-tui"


def main() -> NoReturn:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Do what the arguments say; returns the exit code."""
    arguments = _parser().parse_args(argv)
    from plugrl_tui.app import PlugRLApp

    if arguments.command == "attach":
        app = PlugRLApp(first="monitor", target=arguments.target)
    else:
        app = PlugRLApp()
    app.run()
    return app.return_code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROG, description="Choose, launch and watch runs.")
    commands = parser.add_subparsers(dest="command")
    attach = commands.add_parser("attach")
    attach.add_argument("target")
    return parser
