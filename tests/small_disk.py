"""A disk that is soon full."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

DISK_BYTES = 8 * 2**20


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """A small file system of its own at ``folder``; where none can be, the test is skipped."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield folder
    finally:
        # Lazily: a process that has just been killed may still be in there.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Leave no byte of it free; returns the file to delete for room."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        # A save in progress may take some of it first.
        while free := shutil.disk_usage(disk).free:
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size + free)
    return ballast
