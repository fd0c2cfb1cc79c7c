"""What a worker's envs hold between an action and its feedback; never crosses the wire."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plugrl.bundles import bundle
from plugrl.data.frames import Inference
from plugrl.protocol.messages import Observation, same_indices

NOTHING = -1
_ALL = slice(None)
_ONE = np.array(1)
"""To add an int is slower."""


@dataclass(slots=True)
class Held:
    """One inference of one worker: n rows, of which ``num_open`` still wait for feedback."""

    version: int
    """Learns done when the actions were inferred."""
    obs: Observation
    """n rows."""
    inference: Inference
    """n rows."""
    num_open: int


@bundle
class Released:
    """Rows of a feedback that belong to one inference, or to none."""

    positions: NDArray[np.int64] | slice
    """(k,) rows of the feedback; a slice stands for all of them."""
    held: Held | None
    """None: the envs hold nothing."""
    rows: NDArray[np.int64] | slice
    """(k,) rows of ``held``; a slice stands for all of them, in order."""
    num_rows: int
    """k"""


class StepStates:
    """Of each env of one worker: its stream, its place in the stream, and what it holds."""

    def __init__(self, stream_ids: Iterator[int]) -> None:
        """Draw stream ids from ``stream_ids``, one for each env that shows up."""
        self._stream_ids = stream_ids
        self._streams = np.empty(0, np.int64)
        self._sequence = np.empty(0, np.int64)
        self._held_id = np.empty(0, np.int64)
        self._held_row = np.empty(0, np.int64)
        self._held: dict[int, Held] = {}
        self._next_id = 0
        self.num_bytes = 0
        """Of the observations held; those of an inference stay until all its rows go. One that is
        held alone costs no counting: it was one message."""
        self._latest: tuple[NDArray[np.int64], Held] | None = None
        """An inference not yet filed by env: most often its feedback is for all its envs."""
        self._latest_envs: NDArray[np.int64] | None = None
        """Met last, where it can't have been changed since."""
        self._are_all = False
        """Whether ``_latest_envs`` are all envs that have shown up, in order."""

    def hold(self, envs: NDArray[np.int64], held: Held) -> None:
        """Note that ``envs`` (n,) got the n rows of ``held``; what they held before is dropped."""
        self._file_latest()
        self._meet(envs)
        self._latest = (envs, held)
        if self._held:
            self._file_latest()

    def release(self, envs: NDArray[np.int64]) -> list[Released]:
        """Take from ``envs`` (m,) what they hold, grouped by inference; each row goes once."""
        if not len(envs):
            return []
        self._meet(envs)
        self._advance(envs)
        if self._latest is not None and same_indices(self._latest[0], envs):
            held, self._latest = self._latest[1], None
            return [Released(_ALL, held, _ALL, len(envs))]
        self._file_latest()
        return self._release_by_env(envs)

    def places(self, envs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Stream ids and sequence numbers (m,) of envs whose feedback was just released.

        Both are for reading only.
        """
        if envs is self._latest_envs and self._are_all:
            return self._streams, self._sequence
        return self._streams[envs], self._sequence[envs]

    @property
    def num_envs(self) -> int:
        """Envs that have shown up so far, by their highest index."""
        return len(self._streams)

    def _file_latest(self) -> None:
        if self._latest is None:
            return
        (envs, held), self._latest = self._latest, None
        dropped = envs[self._held_id[envs] != NOTHING]
        if len(dropped):
            # The env may have moved on without telling: its stream has a gap here.
            self._advance(dropped)
            self._forget(self._held_id[dropped])
        if len(envs):
            self._held[self._next_id] = held
            self.num_bytes += held.obs.num_bytes
        self._held_id[envs] = self._next_id
        self._held_row[envs] = np.arange(len(envs))
        self._next_id += 1

    def _advance(self, envs: NDArray[np.int64]) -> None:
        """Go on by one in the streams of ``envs``, and leave alone what ``places`` handed out."""
        if envs is self._latest_envs and self._are_all:
            self._sequence = self._sequence + _ONE
        else:
            self._sequence = self._sequence.copy()
            self._sequence[envs] += 1

    def _release_by_env(self, envs: NDArray[np.int64]) -> list[Released]:
        ids, rows = self._held_id[envs], self._held_row[envs]
        self._held_id[envs] = NOTHING
        if len(envs) and (ids == ids[0]).all():
            return [self._release(int(ids[0]), slice(None), rows)]
        return [
            self._release(int(id_), positions, rows[positions])
            for id_ in np.unique(ids)
            for positions in (np.flatnonzero(ids == id_),)
        ]

    def _release(
        self, id_: int, positions: NDArray[np.int64] | slice, rows: NDArray[np.int64]
    ) -> Released:
        if id_ == NOTHING:
            return Released(positions, None, rows, len(rows))
        held = self._held[id_]
        self._close(id_, len(rows))
        whole = len(rows) == len(held.obs) and bool((rows == np.arange(len(rows))).all())
        return Released(positions, held, slice(None) if whole else rows, len(rows))

    def _forget(self, ids: NDArray[np.int64]) -> None:
        for id_, count in zip(*np.unique(ids, return_counts=True), strict=True):
            self._close(int(id_), int(count))

    def _close(self, id_: int, num_rows: int) -> None:
        """Rows of an inference are held no longer."""
        held = self._held[id_]
        held.num_open -= num_rows
        if held.num_open == 0:
            del self._held[id_]
            self.num_bytes -= held.obs.num_bytes

    def _meet(self, envs: NDArray[np.int64]) -> None:
        if envs is self._latest_envs:
            return
        self._latest_envs = None if envs.flags.writeable else envs
        missing = int(envs.max(initial=-1)) + 1 - len(self._streams)
        if missing > 0:
            self._make_room(missing)
        self._are_all = same_indices(envs, np.arange(len(self._streams)))

    def _make_room(self, missing: int) -> None:
        new_streams = np.fromiter(self._stream_ids, np.int64, count=missing)
        self._streams = np.concatenate([self._streams, new_streams])
        self._sequence = np.concatenate([self._sequence, np.zeros(missing, np.int64)])
        self._held_id = np.concatenate([self._held_id, np.full(missing, NOTHING, np.int64)])
        self._held_row = np.concatenate([self._held_row, np.zeros(missing, np.int64)])
