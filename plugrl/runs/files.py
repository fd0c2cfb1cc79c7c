"""JSON files that are whole or absent, and lines that a killed writer can't spoil."""

import contextlib
import json
import math
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from plugrl.errors import RunRecordError

_BESIDE = re.compile(r"\..+\.json\.(?P<pid>[0-9]{1,9})-[0-9a-f]{8}")
"""The names that ``write_json`` gives to what is not whole yet."""


def write_json(path: Path, data: object) -> None:
    """Write ``path`` beside itself and rename it: a reader sees the old file or the new one.

    Args:
        path: the file.
        data: a mapping or a dataclass, of what ``plain`` can make JSON of.

    Raises:
        OSError: the disk is full or read-only; the old file stands.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        beside.write_text(json.dumps(plain(data), allow_nan=False, indent=1) + "\n", "utf-8")
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def clear_away(folder: Path) -> None:
    """Delete what writers that were killed left beside the files of ``folder``; never raises."""
    with contextlib.suppress(OSError):
        for beside in folder.glob(".*.json.*-*"):
            written = _BESIDE.fullmatch(beside.name)
            if written is not None and _is_gone(int(written["pid"])):
                beside.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that ``write_json`` wrote.

    Raises:
        FileNotFoundError: there is none.
        RunRecordError: it is no JSON object.
    """
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise RunRecordError(f"expected a JSON object, got {error}, at {path}") from error
    if not isinstance(data, dict):
        raise RunRecordError(f"expected a JSON object, got {type(data).__name__}, at {path}")
    return data


def append_text(path: Path, text: str) -> None:
    """Append whole lines in one write; a line that a killed writer left open is ended first.

    Raises:
        OSError: the disk is full or read-only, and has none of the lines.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        open_line = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        _append(descriptor, size, (b"\n" if open_line else b"") + text.encode())
    finally:
        os.close(descriptor)


def plain(value: Any) -> Any:
    """The same in what strict JSON can say; other objects and infinite numbers as their text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        # It is somebody else's.
        return False
    return False


def _append(descriptor: int, size: int, data: bytes) -> None:
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        # The lines will be written again, whole: a part of them must not stay before that, unless
        # another process has written behind it.
        if os.fstat(descriptor).st_size == size + written:
            os.ftruncate(descriptor, size)
        raise
