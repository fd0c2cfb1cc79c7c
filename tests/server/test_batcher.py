"""When a batch is due and who is waited for."""

from itertools import count

import numpy as np
import pytest

from plugrl.protocol.closing import Closing
from plugrl.protocol.messages import Array, Infer, Observation
from plugrl.server.batcher import Batcher, concatenate
from plugrl.server.worker import Place, Worker, WorkerState


class Silent(Worker):
    def send(self, actions: Array) -> None:
        raise NotImplementedError

    def close(self, closing: Closing) -> None:
        raise NotImplementedError


def worker(id_: int) -> Silent:
    return Silent(f"w{id_}", Place(id_, count()))


def infer(n: int = 1, width: int = 2, name: str = "state") -> Infer:
    obs = Observation({}, {name: np.full((n, width), float(n))}, np.array([""] * n))
    return Infer(obs, np.arange(n), np.zeros(n, np.int64))


@pytest.fixture
def batcher() -> Batcher:
    batcher = Batcher(min_envs=None)
    for id_ in range(3):
        batcher.join(worker(id_))
    return batcher


def test_nothing_is_due_without_workers():
    assert not Batcher(min_envs=None).due()


def test_a_batch_is_due_once_every_worker_is_queued(batcher: Batcher):
    for id_ in range(3):
        assert not batcher.due()
        batcher.add(batcher.workers[id_], infer())
    assert batcher.due()


def test_a_worker_that_leaves_is_waited_for_no_longer(batcher: Batcher):
    batcher.add(batcher.workers[0], infer())
    batcher.add(batcher.workers[1], infer())
    batcher.leave(batcher.workers[2])
    assert batcher.due()


def test_an_ignored_worker_is_not_waited_for_until_it_asks_again(batcher: Batcher):
    silent = batcher.workers[2]
    silent.enter(WorkerState.IGNORED)
    batcher.add(batcher.workers[0], infer())
    batcher.add(batcher.workers[1], infer())
    assert batcher.due()
    batcher.add(silent, infer())
    assert len(batcher.take()) == 3
    batcher.add(batcher.workers[0], infer())
    assert silent in batcher.missing()


def test_with_a_minimum_a_batch_is_due_once_that_many_envs_are_queued():
    batcher = Batcher(min_envs=5)
    for id_ in range(3):
        batcher.join(worker(id_))
    batcher.add(batcher.workers[0], infer(3))
    assert not batcher.due()
    batcher.add(batcher.workers[1], infer(2))
    assert batcher.due()


def test_a_request_of_a_worker_that_left_is_gone(batcher: Batcher):
    batcher.add(batcher.workers[0], infer(4))
    batcher.leave(batcher.workers[0])
    assert (batcher.num_requests, batcher.num_envs) == (0, 0)


def test_a_batch_is_in_the_order_of_ids_whoever_came_first(batcher: Batcher):
    for id_ in (2, 0, 1):
        batcher.add(batcher.workers[id_], infer())
    assert [request.worker.id for request in batcher.take()] == [0, 1, 2]
    assert batcher.num_envs == 0


def test_observations_of_one_form_make_one_batch(batcher: Batcher):
    for id_ in range(3):
        batcher.add(batcher.workers[id_], infer(id_ + 1))
    ((requests, obs),) = concatenate(batcher.take())
    assert len(requests) == 3
    np.testing.assert_array_equal(obs.states["state"][:, 0], [1, 2, 2, 3, 3, 3])


def test_observations_of_other_forms_make_batches_of_their_own(batcher: Batcher):
    batcher.add(batcher.workers[0], infer())
    batcher.add(batcher.workers[1], infer(width=5))
    batcher.add(batcher.workers[2], infer(name="joints"))
    assert sorted(len(requests) for requests, _ in concatenate(batcher.take())) == [1, 1, 1]


def test_an_image_named_like_a_state_is_not_taken_for_it(batcher: Batcher):
    for id_, images in enumerate(({}, {"state": np.zeros((1, 2, 2, 3), np.uint8)}, {})):
        obs = Observation(images, {"state": np.zeros((1, 2))}, np.array([""]))
        batcher.add(batcher.workers[id_], Infer(obs, np.arange(1), np.zeros(1, np.int64)))
    assert sorted(len(requests) for requests, _ in concatenate(batcher.take())) == [1, 2]


def test_a_long_text_does_not_lengthen_the_rows_of_the_others(batcher: Batcher):
    texts = (["x" * 2**16], [""] * 64, ["short"] * 64)
    for id_, text in enumerate(texts):
        n = len(text)
        obs = Observation({}, {"state": np.zeros((n, 2))}, np.array(text))
        batcher.add(batcher.workers[id_], Infer(obs, np.arange(n), np.zeros(n, np.int64)))
    batches = concatenate(batcher.take())
    assert sum(len(obs) for _, obs in batches) == 129
    assert sum(obs.text.nbytes for _, obs in batches) < 4 * (2**16 + 128 * 5) + 1
