"""The feature ``reuse-feedback-obs``: what each side knows of the last feedback of each env."""

import numpy as np
from numpy.typing import NDArray

from plugrl.errors import InvalidMessageError
from plugrl.protocol.messages import Feedback, Infer, Observation, any_true, same_indices
from plugrl.protocol.observations import check_text_size, text_len


class FeedbackMemory:
    """Where the last feedback's observation row of each env of a connection is."""

    def __init__(self) -> None:
        """Start with no env."""
        self._latest: Feedback | None = None
        """Not yet in ``_rows``: most often the next infer asks for just this."""
        self._rows: dict[int, tuple[Observation, int]] = {}

    def store(self, feedback: Feedback) -> None:
        """Keep the rows that may be reused, forget those envs' older ones."""
        if self._latest is not None and not same_indices(
            self._latest.env_indices, feedback.env_indices
        ):
            self._file_latest()
        self._latest = feedback

    def complete(self, infer: Infer) -> Infer:
        """``infer`` with all its n rows, reused ones filled in.

        Raises:
            InvalidMessageError: a row that may not be reused, or rows that don't go together.
        """
        assert infer.reuse is not None
        latest = self._latest
        if (
            latest is not None
            and latest.obs is not None
            and not len(infer.obs)
            and same_indices(latest.env_indices, infer.env_indices)
            and not (any_true(latest.terminated) or any_true(latest.truncated))
        ):
            return Infer(latest.obs, infer.env_indices, infer.step_ids)
        self._file_latest()
        return self._gathered(infer)

    def _file_latest(self) -> None:
        if self._latest is None:
            return
        obs = self._latest.obs
        done = (self._latest.terminated | self._latest.truncated).tolist()
        for row, env in enumerate(self._latest.env_indices.tolist()):
            if done[row] or obs is None:
                self._rows.pop(env, None)
            else:
                self._rows[env] = (obs, row)
        self._latest = None

    def _gathered(self, infer: Infer) -> Infer:
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


class ReusableEnvs:
    """The client's side: the envs whose last observation the server has."""

    def __init__(self) -> None:
        """Start with none."""
        self._latest: Feedback | None = None
        """Not yet in ``_envs``: most often the next infer asks for just this."""
        self._envs: set[int] = set()

    def note(self, feedback: Feedback) -> None:
        """The server is about to have the rows of ``feedback``."""
        if self._latest is not None and not same_indices(
            self._latest.env_indices, feedback.env_indices
        ):
            self._file_latest()
        self._latest = feedback

    def all_of(self, env_indices: NDArray[np.int64]) -> bool:
        """Whether these envs are those of the last feedback, and the server has all their rows."""
        latest = self._latest
        return (
            latest is not None
            and len(env_indices) > 0
            and same_indices(latest.env_indices, env_indices)
            and not (any_true(latest.terminated) or any_true(latest.truncated))
        )

    def among(self, env_indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these envs, (n,)."""
        self._file_latest()
        return np.array([env in self._envs for env in env_indices.tolist()], np.bool_)

    def _file_latest(self) -> None:
        if self._latest is None:
            return
        done = self._latest.terminated | self._latest.truncated
        self._envs.difference_update(self._latest.env_indices[done].tolist())
        self._envs.update(self._latest.env_indices[~done].tolist())
        self._latest = None


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
