"""Between Gymnasium's spaces and the wire: observations to named rows, rows to actions.

Legend: k envs of a call, d width of a state, c components of an action.

=================  =====================================================================
space              on the wire
=================  =====================================================================
Box                state ``state``, flattened; uint8 of rank 3: image ``image`` (h, w, c)
Discrete           one-hot state
MultiDiscrete      one-hot states of all components, side by side
MultiBinary        state of zeros and ones
Text               the env's ``text``
Dict, Tuple        one of the above per leaf, named by its keys or positions, joined by dots
=================  =====================================================================

Actions: a Box takes (k, *shape); Discrete (k,) or (k, 1) and MultiDiscrete and MultiBinary (k, c),
whole numbers that count each component's choices from 0.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces  # noqa: TID253 -- imported by gymnasium envs only
from numpy.typing import NDArray

from plugrl.errors import EnvError, IncompatibleError, InvalidMessageError
from plugrl.protocol.messages import Array, Observation
from plugrl.protocol.numbers import in_range

_NO_TEXT = np.dtype("<U1")
ActionDecoder = Callable[[Array], "Sequence[Any] | Array"]
"""(k, *action shape) from the server -> k actions for ``env.step``."""


class ObservationLayout:
    """How the observations of one space become rows."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        """Name the space's leaves.

        Raises:
            IncompatibleError: a leaf has no form on the wire.
        """
        self._images: list[_Leaf] = []
        self._states: list[_Leaf] = []
        self._texts: list[_Leaf] = []
        for leaf in _leaves(space, ()):
            self._list_of(leaf).append(leaf)
        if len(self._texts) > 1:
            names = [leaf.name for leaf in self._texts]
            raise IncompatibleError(f"expected at most one Text space, got {names}")

    @property
    def state_width(self) -> int:
        """Width of all states side by side."""
        return sum(leaf.width for leaf in self._states)

    def encode(self, raw: Sequence[Any]) -> Observation:
        """Turn k observations, as ``env.step`` returns them, into k rows.

        Raises:
            EnvError: one is not of the space's shape, or not finite.
        """
        states = {leaf.name: leaf.encode_states(raw) for leaf in self._states}
        images = {leaf.name: leaf.encode_images(raw) for leaf in self._images}
        if self._texts:
            text: Array = np.array([str(self._texts[0].pick(obs)) for obs in raw])
        else:
            text = np.zeros(len(raw), _NO_TEXT)
        return Observation(images, states, text)

    def _list_of(self, leaf: "_Leaf") -> "list[_Leaf]":
        if isinstance(leaf.space, spaces.Text):
            return self._texts
        return self._images if _is_image(leaf.space) else self._states


def action_decoder(
    space: spaces.Space[Any], bounds: Literal["clip", "rescale"] = "clip"
) -> ActionDecoder:
    """How the server's actions become those of ``space``.

    Args:
        space: the env's action space.
        bounds: whether a Box action is clipped to the bounds, or [-1, 1] rescaled to them.

    Raises:
        IncompatibleError: the space has no form on the wire, or no bounds to rescale to.
    """
    if isinstance(space, spaces.Box):
        return _box_decoder(space, bounds)
    if isinstance(space, spaces.Discrete):
        choices = _choice_decoder(np.array([space.n]), np.array([space.start]))
        return lambda actions: [int(row[0]) for row in choices(actions)]
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
        return _choice_decoder(space.nvec, space.start, space.dtype)
    if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
        nvec = np.full(space.shape, 2)
        return _choice_decoder(nvec, np.zeros_like(nvec), space.dtype)
    raise IncompatibleError(
        f"expected a Box, Discrete, MultiDiscrete or MultiBinary action space, got {space}; "
        "wrap the env to give it one"
    )


def action_sizes(space: spaces.Space[Any]) -> tuple[int, tuple[int, ...]]:
    """The width of a Box action, or else the choices of each component of a discrete one.

    Args:
        space: one that ``action_decoder`` takes.
    """
    if isinstance(space, spaces.Box):
        return math.prod(space.shape), ()
    if isinstance(space, spaces.Discrete):
        return 0, (int(space.n),)
    if isinstance(space, spaces.MultiDiscrete):
        return 0, tuple(space.nvec.tolist())
    assert isinstance(space, spaces.MultiBinary)
    return 0, (2,) * math.prod(space.shape)


class _Leaf:
    """One array of an observation, at a path of Dict keys and Tuple positions."""

    def __init__(self, path: tuple[Any, ...], space: spaces.Space[Any]) -> None:
        default = "image" if _is_image(space) else "state"
        self.name = ".".join(str(key) for key in path) or default
        self.space = space
        self._path = path
        self._one_hot = isinstance(space, spaces.Discrete | spaces.MultiDiscrete)
        self.width = spaces.flatdim(space) if not isinstance(space, spaces.Text) else 0
        floats = isinstance(space, spaces.Box) and np.result_type(space.dtype, np.float32)
        self._dtype = floats or np.dtype(np.float32)

    def pick(self, obs: Any) -> Any:
        for key in self._path:
            obs = obs[key]
        return obs

    def encode_states(self, raw: Sequence[Any]) -> Array:
        values = [self.pick(obs) for obs in raw] if self._path else raw
        if self._one_hot:
            values = [spaces.flatten(self.space, np.asarray(value)) for value in values]
        try:
            rows = np.array(values, self._dtype).reshape(len(raw), self.width)
        except ValueError as error:
            shapes = ", ".join(str(np.shape(value)) for value in values)
            raise EnvError(
                f"expected an observation of {self.space}, got shape {shapes}, at {self.name}"
            ) from error
        if not in_range(rows):
            bad = next(i for i, row in enumerate(rows) if not in_range(row))
            raise EnvError(
                f"expected finite float32 observations, got {rows[bad]} at {self.name}, row {bad}; "
                "the simulation is unstable or the env divides by zero"
            )
        return rows

    def encode_images(self, raw: Sequence[Any]) -> NDArray[np.uint8]:
        rows = np.stack([self.pick(obs) for obs in raw])
        if rows.shape[1:] != self.space.shape or rows.dtype != np.uint8:
            raise EnvError(
                f"expected an image of {self.space}, got {rows.dtype} of shape {rows.shape[1:]}, "
                f"at {self.name}"
            )
        return rows


def _leaves(space: spaces.Space[Any], path: tuple[Any, ...]) -> Iterator[_Leaf]:
    if isinstance(space, spaces.Dict):
        for key, child in space.spaces.items():
            yield from _leaves(child, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for position, child in enumerate(space.spaces):
            yield from _leaves(child, (*path, position))
    elif isinstance(
        space,
        spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Text,
    ):
        yield _Leaf(path, space)
    else:
        where = ".".join(str(key) for key in path) or "the observation"
        raise IncompatibleError(
            "expected Box, Discrete, MultiDiscrete, MultiBinary and Text observations, or Dict "
            f"and Tuple of them, got {space} at {where}; wrap the env to flatten it"
        )


def _is_image(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Box) and space.dtype == np.uint8 and len(space.shape) == 3


def _box_decoder(space: spaces.Box, bounds: Literal["clip", "rescale"]) -> ActionDecoder:
    low, high, width = space.low, space.high, math.prod(space.shape)
    if bounds == "rescale" and not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise IncompatibleError(
            f"expected finite bounds to rescale to, got {space}; use --env.action-bounds clip"
        )

    def decode(actions: Array) -> Array:
        _check_width(actions, width, space)
        if np.count_nonzero(np.isfinite(actions)) < actions.size:
            raise InvalidMessageError(f"expected finite actions, got {actions}, at $.data.action")
        shaped = actions.reshape(len(actions), *space.shape)
        if bounds == "rescale":
            shaped = low + (np.clip(shaped, -1, 1) + 1) * 0.5 * (high - low)
        # Of the bounds' own type, so that rounding never leaves the space. These two ufuncs take
        # half as long as np.clip.
        return np.minimum(np.maximum(shaped.astype(space.dtype, copy=False), low), high)

    return decode


def _choice_decoder(nvec: Array, start: Array, dtype: Any = np.int64) -> ActionDecoder:
    space = spaces.MultiDiscrete(nvec)

    def decode(actions: Array) -> Array:
        _check_width(actions, len(nvec), space)
        rows = actions.reshape(len(actions), len(nvec))
        with np.errstate(invalid="ignore"):
            choices = np.asarray(rows, np.int64)
        if (choices != rows).any() or (choices < 0).any() or (choices >= nvec).any():
            raise IncompatibleError(
                f"expected whole actions from 0 to below {nvec.tolist()}, got {rows.tolist()} from "
                "the server; its policy must be of discrete actions with as many choices"
            )
        return (choices + start).astype(dtype)

    return decode


def _check_width(actions: Array, width: int, space: spaces.Space[Any]) -> None:
    got = math.prod(actions.shape[1:])
    if got != width:
        raise IncompatibleError(
            f"expected actions {width} wide for {space}, got {got} from the server; start the "
            "server for this env, or this client for the server's"
        )
