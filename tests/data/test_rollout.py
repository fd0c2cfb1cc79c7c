import numpy as np
import pytest

from plugrl.data.rollout import Rollout, Rows


def rows(streams: list[int], sequence: list[int]) -> Rows:
    n = len(streams)
    tag = np.array([10.0 * s + q for s, q in zip(streams, sequence, strict=True)])
    return Rows(
        obs=np.repeat(tag, 2).reshape(n, 2).astype(np.float32),
        actions=tag.reshape(n, 1, 1),
        log_probs=tag.astype(np.float32),
        values=tag.astype(np.float32),
        rewards=tag,
        terminated=np.zeros(n, bool),
        truncated=np.ones(n, bool),
        next_obs=np.zeros((n, 2), np.float32),
        streams=np.array(streams),
        sequence=np.array(sequence),
    )


def test_it_counts_rows_and_room() -> None:
    rollout = Rollout(5)
    rollout.add(rows([1, 2, 3], [0, 0, 0]))
    assert (len(rollout), rollout.room) == (3, 2)


def test_rows_of_interleaved_streams_come_out_by_stream_and_time() -> None:
    rollout = Rollout(5)
    rollout.add(rows([2, 1], [3, 5]))
    rollout.add(rows([1], [6]))
    rollout.add(rows([1, 2], [7, 4]))
    ordered = rollout.by_stream()
    assert ordered.streams.tolist() == [1, 1, 1, 2, 2]
    assert ordered.sequence.tolist() == [5, 6, 7, 3, 4]
    assert ordered.rewards.tolist() == [15, 16, 17, 23, 24]
    assert ordered.obs[:, 1].tolist() == [15, 16, 17, 23, 24]


def test_rows_keep_their_types_and_shapes() -> None:
    rollout = Rollout(4)
    rollout.add(rows([1, 2], [0, 0]))
    ordered = rollout.by_stream()
    assert ordered.obs.dtype == np.float32
    assert ordered.actions.shape == (2, 1, 1)
    assert ordered.truncated.all()


def test_a_cleared_rollout_forgets_and_takes_rows_again() -> None:
    rollout = Rollout(2)
    rollout.add(rows([1, 2], [0, 0]))
    rollout.clear()
    rollout.add(rows([3], [0]))
    assert rollout.by_stream().streams.tolist() == [3]


def test_more_rows_than_room_are_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError):
        Rollout(1).add(rows([1, 2], [0, 0]))
