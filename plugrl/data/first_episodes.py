"""Chooses which episodes an evaluation counts: the first N to start.

The first N to *finish* would be a biased choice: with several envs, short episodes finish first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plugrl.data.frames import Frames

LOST_AFTER_FRAMES = 1000
"""An env is taken for gone once it reported nothing while the running ones reported this many
frames each, on average; the next episode to start then counts in place of its own."""


@dataclass(slots=True)
class Episode:
    """An episode, from the frames that came of it so far."""

    started: int
    """How many episodes that count started before it; -1: it doesn't count."""
    episode_return: float = 0.0
    """Sum of rewards; the client's own figure where it sends one."""
    length: int = 0
    """Frames; steps where the client sends its own figure."""
    success: bool | None = None
    """As the client reports it, where it does."""
    last_frame: int = 0
    """When its latest frame came, in frames of all envs."""


class FirstEpisodes:
    """Follows all streams and collects the episodes that count."""

    def __init__(self, num_episodes: int) -> None:
        """Count exactly ``num_episodes``."""
        self._num_free = num_episodes
        self._num_wanted = num_episodes
        self._num_started = 0
        self._num_frames = 0
        self._running: dict[int, Episode] = {}
        self._finished: list[Episode] = []

    @property
    def complete(self) -> bool:
        """Whether all that count have finished."""
        return len(self._finished) == self._num_wanted

    def finished(self) -> list[Episode]:
        """Those that count and have finished, in the order in which they started."""
        return sorted(self._finished, key=lambda episode: episode.started)

    def add(self, frames: Frames) -> None:
        """Take m frames."""
        done = frames.next_terminated | frames.next_truncated
        for i, stream in enumerate(frames.streams.tolist()):
            self._num_frames += 1
            episode = self._running.get(stream)
            if episode is None:
                episode = self._running[stream] = Episode(self._place())
            episode.episode_return += float(frames.rewards[i])
            episode.length += 1
            episode.last_frame = self._num_frames
            if done[i]:
                del self._running[stream]
                if episode.started >= 0:
                    _take_report(episode, frames.info.get("episode"), i)
                    self._finished.append(episode)

    def _place(self) -> int:
        """The number of an episode that starts now."""
        if not self._num_free:
            self._drop_lost()
        if not self._num_free:
            return -1
        self._num_free -= 1
        self._num_started += 1
        return self._num_started - 1

    def _drop_lost(self) -> None:
        """Free the place of an env that is gone."""
        patience = LOST_AFTER_FRAMES * len(self._running)
        for stream, episode in list(self._running.items()):
            if self._num_frames - episode.last_frame > patience:
                del self._running[stream]
                self._num_free += episode.started >= 0


def _take_report(episode: Episode, report: Any, i: int) -> None:
    """Prefer the client's statistics (row ``i``): it also knows what was lost on the way here."""
    if not isinstance(report, dict) or not np.all(_row(report, "mask", i, default=True)):
        return
    episode.episode_return = float(_row(report, "r", i, default=episode.episode_return))
    episode.length = int(_row(report, "l", i, default=episode.length))
    if "s" in report:
        episode.success = bool(_row(report, "s", i, default=False))


def _row(report: dict[str, Any], key: str, i: int, *, default: Any) -> Any:
    value = np.asarray(report.get(key, default))
    return value[i] if value.ndim else value
