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
    _parser().parse_args(argv)
    from plugrl_tui.app import PlugRLApp

    PlugRLApp().run()
    return 0


def _parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=PROG, description="Choose, launch and watch runs.")
