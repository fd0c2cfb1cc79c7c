"""Versions of what a run was made with."""

import contextlib
import platform
from importlib.metadata import PackageNotFoundError, version

import plugrl


def versions(*packages: str) -> dict[str, str]:
    """Those of PlugRL, of Python and of the ``packages`` that are installed."""
    found = {"plugrl": plugrl.__version__, "python": platform.python_version()}
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
