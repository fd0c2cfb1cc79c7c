"""Observations on the wire: ``images``, ``states`` and ``text``, with one row for each env."""

from typing import Any

import numpy as np

from plugrl.errors import InvalidMessageError
from plugrl.protocol.fields import FieldMap, describe, map_field
from plugrl.protocol.messages import Array, Observation

_KEYS = frozenset({"images", "states", "text"})
_IMAGE_RANK, _STATE_RANK = 4, 2
_BYTES_PER_CHARACTER = 4

MAX_TEXT_LEN = 2**16
"""Characters of one env's text."""
MAX_TEXT_BYTES = 2**28
"""Bytes of a message's text as an array, in which every row is as long as the longest: short
frames could otherwise claim any amount of memory."""


class UnsplittableError(InvalidMessageError):
    """An observation that has no row for each env."""


def check_text_size(num_rows: int, longest: int, at: str) -> None:
    """Refuse text that would take too much memory as an array of rows of equal length.

    Raises:
        InvalidMessageError: it would.
    """
    if longest > MAX_TEXT_LEN or num_rows * longest * _BYTES_PER_CHARACTER > MAX_TEXT_BYTES:
        raise InvalidMessageError(
            f"expected texts of at most {MAX_TEXT_LEN} characters and {MAX_TEXT_BYTES} bytes"
            f" as an array, got {num_rows} of up to {longest} characters, at {at}"
        )


def text_len(text: Array) -> int:
    """The length of the longest row that an array of str has room for."""
    return text.dtype.itemsize // _BYTES_PER_CHARACTER


def observation(fields: FieldMap, name: str, at: str, num_rows: int) -> Observation:
    """A field that is an observation of ``num_rows`` envs.

    Raises:
        InvalidMessageError: a wrong key, type or dtype.
        UnsplittableError: an array without one row for each env.
    """
    data = map_field(fields, name, at, keys=_KEYS)
    images, states = data["images"], data["states"]
    if not isinstance(images, dict) or not isinstance(states, dict):
        raise InvalidMessageError(
            f"expected maps, got {describe(images)} and {describe(states)},"
            f" at {at}.{name}.images and .states"
        )
    for key, image in images.items():
        if (
            not _is_batch(image, num_rows, _IMAGE_RANK)
            or image.dtype != np.uint8
            or type(key) is not str
        ):
            path = f"{at}.{name}.images"
            raise _wrong(image, key, path, dtype="uint8", rank=_IMAGE_RANK, num_rows=num_rows)
    for key, state in states.items():
        if (
            not _is_batch(state, num_rows, _STATE_RANK)
            or state.dtype.kind != "f"
            or type(key) is not str
        ):
            path = f"{at}.{name}.states"
            raise _wrong(state, key, path, dtype="float", rank=_STATE_RANK, num_rows=num_rows)
    return Observation(images, states, _text(data["text"], num_rows, f"{at}.{name}.text"))


def observation_without_rows(fields: FieldMap, name: str, at: str) -> Observation:
    """A field that is an observation of no env, because all its rows are reused.

    Nothing will be read from its arrays: of what kind they are is left open.

    Raises:
        InvalidMessageError: a wrong key or type, or an array with a row.
    """
    data = map_field(fields, name, at, keys=_KEYS)
    path = f"{at}.{name}"
    images, states = map_field(data, "images", path), map_field(data, "states", path)
    for value in (*images.values(), *states.values(), data["text"]):
        if not _is_without_rows(value):
            raise InvalidMessageError(
                f"expected arrays of 0 rows, got {describe(value)}, at {path}"
            )
    return Observation({}, {}, np.array([], dtype=np.str_))


def _is_without_rows(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and len(value) == 0
    return isinstance(value, list) and not value


def _is_batch(value: Any, num_rows: int, rank: int) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == rank and len(value) == num_rows


def _wrong(
    value: Any, name: object, at: str, *, dtype: str, rank: int, num_rows: int
) -> InvalidMessageError:
    if type(name) is not str:
        return InvalidMessageError(f"expected names of type str, got {name!r:.40}, at {at}")
    sentence = (
        f"expected {dtype} of {rank} dimensions with {num_rows} rows,"
        f" got {describe(value)}, at {at}.{name:.40}"
    )
    if _is_batch(value, num_rows, rank):
        return InvalidMessageError(sentence)
    return UnsplittableError(sentence)


def _text(text: Any, num_rows: int, at: str) -> Array:
    if isinstance(text, list) and all(isinstance(entry, str) for entry in text):
        check_text_size(len(text), max(map(len, text), default=0), at)
        text = np.array(text, dtype=np.str_)
    if not num_rows and _is_without_rows(text):
        # Libraries make a float array of an empty list.
        return np.array([], dtype=np.str_)
    if not _is_batch(text, num_rows, rank=1):
        raise UnsplittableError(f"expected {num_rows} str, got {describe(text)}, at {at}")
    if text.dtype.kind != "U":
        raise InvalidMessageError(f"expected str, got {describe(text)}, at {at}")
    array: Array = text
    check_text_size(num_rows, text_len(array), at)
    return array
