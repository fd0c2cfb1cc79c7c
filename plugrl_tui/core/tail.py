"""Files that grow: what has been added since the last look."""

import json
from pathlib import Path
from typing import Any

MAX_READ_BYTES = 2**20
"""At most so much at one look, so that a look takes milliseconds."""


class Tail:
    """Reads whole lines that were appended to a file."""

    def __init__(self, path: Path, *, from_end_bytes: int | None = None) -> None:
        """Follow ``path``, which may not exist yet.

        Args:
            path: the file.
            from_end_bytes: begin so far before its end; None reads it from its start.
        """
        self.path = path
        self._from_end_bytes = from_end_bytes
        self._offset: int | None = None
        self._inode = 0
        self._rest = b""
        self.has_more = False
        """Whether the last look left something for the next."""

    def lines(self) -> list[str]:
        """The lines that are new, and whole.

        Raises:
            OSError: it is there but can't be read.
        """
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
        self.has_more = self._offset < found.st_size
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in whole]

    def _begin(self, size: int, inode: int) -> None:
        skipped = 0 if self._from_end_bytes is None else max(0, size - self._from_end_bytes)
        self._offset, self._inode, self._rest = skipped, inode, b""


class JsonTail:
    """The objects of a file of JSON lines; broken lines are counted and left out."""

    def __init__(self, path: Path) -> None:
        """Follow ``path``, which may not exist yet."""
        self._tail = Tail(path)
        self.num_broken = 0

    @property
    def has_more(self) -> bool:
        """Whether the last look left something for the next."""
        return self._tail.has_more

    def objects(self) -> list[dict[str, Any]]:
        """Those that are new.

        Raises:
            OSError: the file is there but can't be read.
        """
        return [item for line in self._tail.lines() if (item := self._parsed(line)) is not None]

    def _parsed(self, line: str) -> dict[str, Any] | None:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            item = None
        if isinstance(item, dict):
            return item
        self.num_broken += bool(line.strip())
        return None
