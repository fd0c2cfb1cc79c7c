"""Generalised advantage estimation (Schulman et al. 2016) over frames of many streams.

Legend: m frames, of all streams, ordered by stream and in each stream by time.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def gae(
    rewards: Floats,
    values: Floats,
    next_values: Floats,
    *,
    terminated: Bools,
    continues: Bools,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Advantages, all arguments and the result (m,).

        delta_t = r_t + gamma (1 - terminated_t) V(next_obs_t) - V(s_t)
        A_t = delta_t + gamma lambda continues_t A_{t+1}

    A truncated episode's value goes on past its end, in ``next_values``; only its trace is cut.

    Args:
        rewards: of each frame.
        values: V(s_t).
        next_values: V(next_obs_t), of the terminal observation where an episode ended.
        terminated: whether the frame ended its episode for good.
        continues: whether the next row is what came next in the same episode.
        gamma: discount of a frame.
        gae_lambda: decay of the trace.
    """
    deltas = rewards + gamma * next_values * ~terminated - values
    decays = gamma * gae_lambda * continues
    # Plain floats: a loop over m rows of NumPy scalars takes twenty times as long.
    advantages = []
    advantage = 0.0
    for delta, decay in zip(deltas[::-1].tolist(), decays[::-1].tolist(), strict=True):
        advantage = delta + decay * advantage
        advantages.append(advantage)
    return np.array(advantages[::-1])


def continuations(
    streams: NDArray[np.int64], sequence: NDArray[np.int64], done: Bools
) -> NDArray[np.bool_]:
    """Whether each row's successor in time is the next row, (m,).

    It is not where the episode is done, the stream ends, or a frame between them is missing.
    """
    follows = np.zeros(len(streams), dtype=bool)
    follows[:-1] = (streams[1:] == streams[:-1]) & (sequence[1:] == sequence[:-1] + 1) & ~done[:-1]
    return follows
