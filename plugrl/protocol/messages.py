"""The messages of the wire, as data. n, m: envs in the message; H: action horizon.

A connection's life: ``Metadata`` once from the server, then ``Infer`` -> ``Action`` -> ``Feedback``
for ever (see ``session``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.bundles import bundle

PROTOCOL_VERSION = 1
REUSE_FEEDBACK_OBS = "reuse-feedback-obs"

Array: TypeAlias = NDArray[Any]
Info: TypeAlias = dict[str, Any]


@bundle
class Observation:
    """What n envs see; every array's first dimension is n."""

    images: Mapping[str, NDArray[np.uint8]]
    """Name -> (n, h, w, c)."""
    states: Mapping[str, Array]
    """Name -> (n, d), float."""
    text: Array
    """(n,) of str: the instruction of each env."""

    def __len__(self) -> int:
        """The number of envs, n."""
        return len(self.text)

    @property
    def num_bytes(self) -> int:
        """What its arrays take, in bytes."""
        images = sum(image.nbytes for image in self.images.values())
        return images + sum(state.nbytes for state in self.states.values()) + self.text.nbytes

    def rows(self, index: Array | slice) -> "Observation":
        """The observation of some of the envs, (k,) indices or a slice."""
        return Observation(
            {name: image[index] for name, image in self.images.items()},
            {name: state[index] for name, state in self.states.items()},
            self.text[index],
        )

    @staticmethod
    def concatenate(parts: Sequence["Observation"]) -> "Observation":
        """The envs of all ``parts``, in order; names and row shapes must agree.

        Raises:
            ValueError: they don't.
        """
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        for part in parts[1:]:
            if (
                part.images.keys() != first.images.keys()
                or part.states.keys() != first.states.keys()
            ):
                raise ValueError("expected observations with the same images and states")
        return Observation(
            {name: np.concatenate([p.images[name] for p in parts]) for name in first.images},
            {name: np.concatenate([p.states[name] for p in parts]) for name in first.states},
            np.concatenate([p.text for p in parts]),
        )


@bundle
class Metadata:
    """The server's greeting; every entry is optional and unknown ones are kept."""

    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def features(self) -> tuple[str, ...]:
        """The optional features that the server offers."""
        features = self.data.get("features", ())
        return (
            tuple(f for f in features if isinstance(f, str))
            if isinstance(features, list | tuple)
            else ()
        )


@bundle
class Infer:
    """A client asks for an action for each of n envs."""

    obs: Observation
    """n rows; as encoded with ``reuse``, only those whose reuse is false."""
    env_indices: NDArray[np.int64]
    """(n,) distinct, at least 0."""
    step_ids: NDArray[np.int64]
    """(n,) action chunks completed in the episode."""
    reuse: NDArray[np.bool_] | None = None
    """(n,) true: the env's obs is the one of its last feedback on this connection."""


@bundle
class Action:
    """The server answers an ``Infer``."""

    env_ids: NDArray[np.int64] | None
    """(n,) the infer's env_indices, in order; None where a server left them out."""
    action: Array
    """(H, n, *action shape): time-major."""


@bundle
class Feedback:
    """A client reports what came of the actions of m envs."""

    env_indices: NDArray[np.int64]
    """(m,) distinct, at least 0."""
    step_ids: NDArray[np.int64]
    """(m,) action chunks completed in the episode."""
    obs: Observation | None
    """m rows: after the last step run; terminal observations where an episode ended. None where
    what came has no row for each env: no error, but nothing that could be stored or reused."""
    rewards: Array
    """(m,) float: sums over the steps run of the chunk."""
    terminated: NDArray[np.bool_]
    """(m,) flags of the last step run."""
    truncated: NDArray[np.bool_]
    """(m,) flags of the last step run."""
    info: Info = field(default_factory=dict)
    """Arrays with m entries at top level or one map down; ``episode`` has r, l, s, mask."""


Message: TypeAlias = Metadata | Infer | Action | Feedback


def any_true(flags: NDArray[np.bool_]) -> bool:
    """Whether one of them is set, each a byte of 0 or 1; for a few, NumPy's own ways are slower."""
    return 1 in flags.tobytes()


def all_true(flags: NDArray[np.bool_]) -> bool:
    """Whether all of them are set, each a byte of 0 or 1."""
    return 0 not in flags.tobytes()


def same_indices(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether two vectors of env indices are the same, in the same order."""
    return one is other or one.tobytes() == other.tobytes()
