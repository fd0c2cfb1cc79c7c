"""Files that grow: what has been added since the last look."""

import json
from pathlib import Path
from typing import Any

MAX_READ_BYTES = 2**20
"""At most so much at one look, so that a look takes milliseconds."""
MAX_LINE_BYTES = 2**22
"""A line that is longer is handed over in parts."""


class Tail:
    """Reads whole lines that were appended to a file."""

    def __init__(self, path: Path, *, from_end_bytes: int | None = None) -> None:
        """Follow ``path``, which may not exist yet.

        Args:
            path: the file.
            from_end_bytes: begin with the first line so near its end; None reads it from its start.
        """
        self.path = path
        self._from_end_bytes = from_end_bytes
        self._offset: int | None = None
        self._inode = 0
        self._rest = b""
        self._in_skipped_line = False
        self.has_more = False
        """Whether the last look left something for the next."""

    def lines(self) -> list[str]:
        """The lines that are new, and whole.

        Raises:
            OSError: it is there but can't be read.
        """
        self.has_more = False
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return []
        if self._offset is None or found.st_ino != self._inode or found.st_size < self._offset:
            self._begin(found.st_size, found.st_ino)
        assert self._offset is not None
        if found.st_size == self._offset:
            return []
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read(MAX_READ_BYTES)
        self._offset += len(data)
        self.has_more = bool(data) and self._offset < found.st_size
        return [line.decode("utf-8", "replace") for line in self._whole(data)]

    def _begin(self, size: int, inode: int) -> None:
        skipped = 0 if self._from_end_bytes is None else max(0, size - self._from_end_bytes)
        # The byte before tells whether a line begins there, or is in the middle.
        self._in_skipped_line = skipped > 0
        self._offset, self._inode, self._rest = max(skipped - 1, 0), inode, b""

    def _whole(self, data: bytes) -> list[bytes]:
        if self._in_skipped_line:
            _, newline, data = data.partition(b"\n")
            self._in_skipped_line = not newline
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            whole, self._rest = [*whole, self._rest], b""
        return whole


class JsonTail:
    """The objects of a file of JSON lines; a line that a kill left broken is left out."""

    def __init__(self, path: Path) -> None:
        """Follow ``path``, which may not exist yet."""
        self._tail = Tail(path)

    @property
    def has_more(self) -> bool:
        """Whether the last look left something for the next."""
        return self._tail.has_more

    def objects(self) -> list[dict[str, Any]]:
        """Those that are new.

        Raises:
            OSError: the file is there but can't be read.
        """
        return [item for line in self._tail.lines() if (item := _object(line)) is not None]


def _object(line: str) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None
