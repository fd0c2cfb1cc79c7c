"""The frame rule: which frames an algorithm gets, and which are discarded and why."""

import logging
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from plugrl.data.frames import Frames, info_rows
from plugrl.protocol.messages import Feedback, Observation
from plugrl.server.algorithm import ServedAlgorithm
from plugrl.server.step_states import Held, Released
from plugrl.server.worker import DiscardCause, Worker

logger = logging.getLogger(__name__)


class Collector:
    """Routes feedback to the algorithm.

    A frame is stored only if its action came from the current policy (no learn since the
    inference) and the algorithm is still collecting. Every other frame is discarded. An
    algorithm with ``on_policy = False`` gets every frame that has step state.
    """

    def __init__(self, algorithm: ServedAlgorithm) -> None:
        """Feed ``algorithm``."""
        self._algorithm = algorithm
        self.frames_kept = 0
        self.discarded: Counter[DiscardCause] = Counter()
        """Frames discarded since the server started."""

    def feedback(self, worker: Worker, feedback: Feedback) -> None:
        """Give each row to the algorithm, or discard it."""
        if feedback.info:
            worker.stats.episodes.record(feedback.info, feedback.terminated | feedback.truncated)
        for released in worker.step_states.release(feedback.env_indices):
            self._route(worker, feedback, released)

    def _route(self, worker: Worker, feedback: Feedback, released: Released) -> None:
        cause = self._cause(released.held, feedback.obs)
        num_stored = 0
        if cause is None:
            num_stored = self._store(worker, _frames(worker, feedback, released))
            cause = DiscardCause.BUFFER_FULL
        if num_stored < released.num_rows:
            positions = np.arange(len(feedback.env_indices))[released.positions]
            self._discard(worker, feedback, positions[num_stored:], cause)

    def _cause(self, held: Held | None, obs: Observation | None) -> DiscardCause | None:
        if held is None:
            return DiscardCause.NO_STEP_STATE
        if obs is None:
            return DiscardCause.BAD_OBSERVATION
        if self._algorithm.on_policy:
            if held.version != self._algorithm.num_learns:
                return DiscardCause.OLDER_POLICY
            if self._algorithm.should_learn():
                return DiscardCause.BUFFER_FULL
        return None

    def _store(self, worker: Worker, frames: Frames) -> int:
        num_stored = self._algorithm.feedback(frames)
        worker.stats.frames_kept += num_stored
        self.frames_kept += num_stored
        return num_stored

    def _discard(
        self, worker: Worker, feedback: Feedback, positions: NDArray[np.int64], cause: DiscardCause
    ) -> None:
        worker.stats.discarded[cause] += len(positions)
        self.discarded[cause] += len(positions)
        if cause is DiscardCause.NO_STEP_STATE:
            logger.info(
                "discarded %d frames of %s without step state (envs %s)",
                len(positions),
                worker,
                feedback.env_indices[positions],
            )
        self._algorithm.discard_feedback(
            info=info_rows(feedback.info, positions),
            next_terminated=feedback.terminated[positions],
            next_truncated=feedback.truncated[positions],
        )


def _frames(worker: Worker, feedback: Feedback, released: Released) -> Frames:
    positions, held, next_obs = released.positions, released.held, feedback.obs
    assert held is not None
    assert next_obs is not None
    obs, inference, rows = held.obs, held.inference, released.rows
    if not isinstance(rows, slice):
        obs, inference = obs.rows(rows), inference.rows(rows)
    if not isinstance(positions, slice):
        feedback = _rows(feedback, next_obs, positions)
        next_obs = feedback.obs
        assert next_obs is not None
    streams, sequence = worker.step_states.places(feedback.env_indices)
    return Frames(
        streams=streams,
        sequence=sequence,
        obs=obs,
        actions=inference.actions,
        step_state=inference.step_state,
        rewards=feedback.rewards.astype(np.float64, copy=False),
        next_terminated=feedback.terminated,
        next_truncated=feedback.truncated,
        next_obs=next_obs,
        info=feedback.info,
    )


def _rows(feedback: Feedback, obs: Observation, index: NDArray[np.int64]) -> Feedback:
    return Feedback(
        env_indices=feedback.env_indices[index],
        step_ids=feedback.step_ids[index],
        obs=obs.rows(index),
        rewards=feedback.rewards[index],
        terminated=feedback.terminated[index],
        truncated=feedback.truncated[index],
        info=info_rows(feedback.info, index),
    )
