"""Observations on the wire: ``images``, ``states`` and ``text``, with one row for each env."""

from typing import Any

import numpy as np

from plugrl.errors import InvalidMessageError
from plugrl.protocol.fields import FieldMap, describe, field, map_field
from plugrl.protocol.messages import Array, Observation

_KEYS = frozenset({"images", "states", "text"})
_IMAGE_RANK, _STATE_RANK = 4, 2


class UnsplittableError(InvalidMessageError):
    """An observation that has no row for each env."""


def observation_to_map(obs: Observation) -> FieldMap:
    """The map that stands for ``obs``."""
    return {"images": obs.images, "states": obs.states, "text": obs.text}


def observation(
    fields: FieldMap, name: str, at: str, num_rows: int, *, all_reused: bool = False
) -> Observation:
    """A field that is an observation of ``num_rows`` envs.

    ``all_reused`` says that its rows were left out: nothing will be read from its arrays, and
    only their length, 0, is checked.

    Raises:
        InvalidMessageError: a wrong key, type or dtype.
        UnsplittableError: an array without one row for each env.
    """
    data = map_field(fields, name, at, keys=_KEYS)
    path = f"{at}.{name}"
    images = map_field(data, "images", path)
    states = map_field(data, "states", path)
    if all_reused:
        return _without_rows(images, states, data["text"], path)
    for key, image in images.items():
        _check(image, "u1", _IMAGE_RANK, num_rows, f"{path}.images", key)
    for key, state in states.items():
        _check(state, "f", _STATE_RANK, num_rows, f"{path}.states", key)
    return Observation(images, states, _text(data, path, num_rows))


def _check(array: Any, kind: str, rank: int, num_rows: int, at: str, name: object) -> None:
    if not isinstance(name, str):
        raise InvalidMessageError(f"expected names of type str, got {name!r:.40}, at {at}")
    if not isinstance(array, np.ndarray):
        raise UnsplittableError(f"expected an array, got {describe(array)}, at {at}.{name}")
    dtype = array.dtype
    if dtype.kind != kind[0] or (kind == "u1" and dtype.itemsize != 1):
        raise InvalidMessageError(f"expected dtype {kind}, got {describe(array)}, at {at}.{name}")
    if array.ndim != rank or len(array) != num_rows:
        raise UnsplittableError(
            f"expected {num_rows} rows in {rank} dimensions, got {describe(array)}, at {at}.{name}"
        )


def _text(data: FieldMap, at: str, num_rows: int) -> Array:
    text = field(data, "text", at)
    if isinstance(text, list) and all(isinstance(entry, str) for entry in text):
        text = np.array(text, dtype=np.str_)
    if not isinstance(text, np.ndarray):
        raise UnsplittableError(f"expected an array of str, got {describe(text)}, at {at}.text")
    if text.shape != (num_rows,):
        raise UnsplittableError(f"expected {num_rows} rows, got {describe(text)}, at {at}.text")
    if text.dtype.kind != "U":
        raise InvalidMessageError(f"expected dtype U, got {describe(text)}, at {at}.text")
    return text


def _without_rows(images: FieldMap, states: FieldMap, text: Any, at: str) -> Observation:
    for name, value in {**images, **states, "text": text}.items():
        if not isinstance(value, np.ndarray | list) or np.shape(value)[:1] != (0,):
            raise UnsplittableError(f"expected 0 rows, got {describe(value)}, at {at}.{name}")
    return Observation({}, {}, np.array([], dtype=np.str_))
