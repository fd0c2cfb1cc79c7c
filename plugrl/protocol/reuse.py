"""The feature ``reuse-feedback-obs`` on the server's side: the last feedback row of each env."""

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError
from plugrl.protocol.messages import Feedback, Infer, Observation
from plugrl.protocol.observations import check_text_size, text_len


class FeedbackMemory:
    """Where the last feedback's observation row of each env of a connection is."""

    def __init__(self) -> None:
        """Start with no env."""
        self._rows: dict[int, tuple[Observation, int]] = {}

    def store(self, feedback: Feedback) -> None:
        """Keep the rows that may be reused, forget those envs' older ones."""
        done = (feedback.terminated | feedback.truncated).tolist()
        for row, env in enumerate(feedback.env_indices.tolist()):
            if done[row] or feedback.obs is None:
                self._rows.pop(env, None)
            else:
                self._rows[env] = (feedback.obs, row)

    def complete(self, infer: Infer) -> Infer:
        """``infer`` with all its n rows, reused ones filled in.

        Raises:
            InvalidMessageError: a row that may not be reused, or rows that don't go together.
        """
        assert infer.reuse is not None
        envs = infer.env_indices[infer.reuse].tolist()
        parts, order = _gather([self._row(env) for env in envs])
        if len(envs) < len(infer.reuse):
            order = _interleave(infer.reuse, order, sum(map(len, parts)))
            parts = [*parts, infer.obs]
        longest = max(text_len(part.text) for part in parts)
        check_text_size(sum(map(len, parts)), longest, "$.data.text")
        try:
            obs = Observation.concatenate(_with_common_images(parts)).rows(order)
        except ValueError as error:
            raise InvalidMessageError(
                f"expected rows like those of the last feedback, got {error}, at $.data"
            ) from None
        return Infer(obs, infer.env_indices, infer.step_ids)

    def _row(self, env: int) -> tuple[Observation, int]:
        try:
            return self._rows[env]
        except KeyError:
            raise InvalidMessageError(
                f"expected no reuse for env {env}, which has no feedback since its last reset"
                " on this connection, at $.reuse"
            ) from None


def _gather(rows: list[tuple[Observation, int]]) -> tuple[list[Observation], NDArray[np.intp]]:
    """The observations that hold the rows, and the rows' positions in their concatenation."""
    starts: dict[int, int] = {}
    parts: list[Observation] = []
    total = 0
    for obs, _ in rows:
        if id(obs) not in starts:
            starts[id(obs)] = total
            parts.append(obs)
            total += len(obs)
    return parts, np.array([starts[id(obs)] + row for obs, row in rows], dtype=np.intp)


def _interleave(
    reuse: NDArray[np.bool_], reused: NDArray[np.intp], num_before: int
) -> NDArray[np.intp]:
    order = np.empty(len(reuse), dtype=np.intp)
    order[reuse] = reused
    order[~reuse] = np.arange(num_before, num_before + len(reuse) - len(reused))
    return order


def _with_common_images(parts: list[Observation]) -> list[Observation]:
    """Extra images may come and go between messages: keep those that every row has."""
    common = set.intersection(*(set(part.images) for part in parts))
    return [
        part
        if len(part.images) == len(common)
        else Observation(
            {name: image for name, image in part.images.items() if name in common},
            part.states,
            part.text,
        )
        for part in parts
    ]
