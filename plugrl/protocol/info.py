"""The info map of a feedback: whether it can be split per env, and the episode statistics in it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrl.errors import InvalidMessageError
from plugrl.protocol.fields import describe
from plugrl.protocol.messages import Info

_EPISODE_KINDS = {"r": "fiu", "l": "iu", "s": "b", "mask": "b"}


def check_info(info: Info, num_envs: int) -> Info:
    """``info``, if it can be split into one entry for each of ``num_envs`` envs.

    Arrays at top level or one map down have a row for each env; anything beside them goes to
    every env; without any array there is one entry in all.

    Raises:
        InvalidMessageError: it can't be split, or the episode statistics have the wrong dtype.
    """
    if not info:
        return info
    num_entries = 1
    for path, array in _arrays(info):
        num_entries = len(array)
        if num_entries != num_envs:
            raise InvalidMessageError(
                f"expected {num_envs} rows, got {describe(array)}, at $.data.info.{path}"
            )
    if num_entries != num_envs:
        raise InvalidMessageError(
            f"expected arrays of {num_envs} rows, got a map without arrays, at $.data.info"
        )
    if "episode" in info:
        _check_episode(info["episode"])
    return info


def _arrays(info: Info) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    for key, value in info.items():
        entries = value.items() if isinstance(value, dict) else ()
        for path, leaf in ((f"{key}", value), *((f"{key}.{name}", leaf) for name, leaf in entries)):
            if isinstance(leaf, np.ndarray) and leaf.ndim:
                yield path, leaf


def _check_episode(episode: Any) -> None:
    if not isinstance(episode, dict):
        raise InvalidMessageError(
            f"expected a map, got {describe(episode)}, at $.data.info.episode"
        )
    for key, kinds in _EPISODE_KINDS.items():
        value = episode.get(key, None)
        if key in episode and not _is_number(value, kinds):
            raise InvalidMessageError(
                f"expected numbers of kind {' or '.join(kinds)}, got {describe(value)},"
                f" at $.data.info.episode.{key}"
            )


def _is_number(value: Any, kinds: str) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim <= 1 and value.dtype.kind in kinds
    return (
        isinstance(value, bool | int | float | np.generic) and np.asarray(value).dtype.kind in kinds
    )
