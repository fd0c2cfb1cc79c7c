"""What passes between the server's collector, a policy and an algorithm: NumPy only.

Legend: n envs of a batch, m frames, H action horizon.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugrl.bundles import bundle
from plugrl.protocol.messages import Array, Info, Observation

Tree: TypeAlias = Any
"""None, an array, or a dict, list or tuple of trees."""


def tree_map(function: Callable[[Array], Any], tree: Tree) -> Tree:
    """Apply ``function`` to every array of ``tree``, keeping its form."""
    if tree is None or isinstance(tree, np.ndarray):
        return None if tree is None else function(tree)
    if isinstance(tree, dict):
        return {key: tree_map(function, value) for key, value in tree.items()}
    return type(tree)(tree_map(function, value) for value in tree)


@bundle
class Inference:
    """A policy's answer to n observations."""

    actions: Array
    """(n, H, *action shape): env-major."""
    step_state: Tree = None
    """Arrays (n, ...) that training will need of these actions; they never cross the wire."""

    def rows(self, index: Array | slice) -> "Inference":
        """The answer to some of the observations, (k,) indices or a slice."""
        return Inference(self.actions[index], tree_map(lambda a: a[index], self.step_state))


@bundle
class Frames:
    """m frames: each an action chunk that was run, with what came before and after it."""

    streams: NDArray[np.int64]
    """(m,) one id per env of a connection; never used again after a reconnect."""
    sequence: NDArray[np.int64]
    """(m,) counts a stream's feedbacks; a frame goes on from the one before it in its stream
    exactly if this grew by one (a discarded frame leaves a gap)."""
    obs: Observation
    """m rows: what the actions were inferred from."""
    actions: Array
    """(m, H, *action shape): as inferred, before any clipping at the env."""
    step_state: Tree
    """Arrays (m, ...) that the policy attached at inference."""
    rewards: NDArray[np.float64]
    """(m,) sums over the steps run."""
    next_terminated: NDArray[np.bool_]
    """(m,)"""
    next_truncated: NDArray[np.bool_]
    """(m,)"""
    next_obs: Observation
    """m rows; terminal observations where an episode ended."""
    info: Info
    """As it came with the feedback, its arrays cut to these m frames."""

    def __len__(self) -> int:
        """The number of frames, m."""
        return len(self.streams)

    def rows(self, index: Array | slice) -> "Frames":
        """Some of the frames, (k,) indices or a slice; ``info`` is cut along."""
        return Frames(
            streams=self.streams[index],
            sequence=self.sequence[index],
            obs=self.obs.rows(index),
            actions=self.actions[index],
            step_state=tree_map(lambda a: a[index], self.step_state),
            rewards=self.rewards[index],
            next_terminated=self.next_terminated[index],
            next_truncated=self.next_truncated[index],
            next_obs=self.next_obs.rows(index),
            info=info_rows(self.info, index),
        )


def info_rows(info: Info, index: Array | slice) -> Info:
    """Cut the arrays of ``info``, at top level and one map down; scalars and strings stay."""

    def cut(value: Any) -> Any:
        return value[index] if isinstance(value, np.ndarray) and value.ndim else value

    return {
        key: {k: cut(v) for k, v in value.items()} if isinstance(value, dict) else cut(value)
        for key, value in info.items()
    }
