"""The env clients, and what is the matter with them."""

from plugrl_tui.core.snapshot import Worker
from plugrl_tui.core.workers import LOST_SHOWN, LOST_SHOWN_S, Condition, Workers


def worker(id: int, **changes) -> Worker:
    usual = Worker(id, "10.0.0.1:5", "stepping", 0.01, 4, 100, {}, 50.0, 0.01, 10.0, 3, 1.0)
    return usual._replace(**changes)


def conditions(workers: Workers) -> dict[int, Condition]:
    return {row.worker.id: row.condition for row in workers.rows()}


def test_each_trouble_has_its_name():
    workers = Workers()
    crowd = [worker(n) for n in range(5)]
    crowd += [worker(10, step_seconds=0.5), worker(11, state="ignored"), worker(12, state="joined")]
    crowd += [worker(13, state_seconds=30.0), worker(14, state="queued", state_seconds=99.0)]
    workers.update([*crowd, worker(15)], [], 0.0)
    workers.update(crowd, [], 1.0)
    found = conditions(workers)
    assert found[10] is found[13] is Condition.SLOW
    assert found[11] is Condition.MUTE
    assert found[12] is Condition.SYNC
    assert found[15] is Condition.LOST
    assert found[0] is found[14] is Condition.OK


def test_the_worst_come_first():
    workers = Workers()
    workers.update([worker(1), worker(2), worker(3, state="joined"), worker(4)], [], 0.0)
    workers.update([worker(1), worker(2), worker(3, state="joined")], [], 1.0)
    assert [row.worker.id for row in workers.rows()] == [4, 3, 1, 2]


def test_frames_per_second_are_those_of_now():
    workers = Workers()
    workers.update([worker(1, frames_kept=1000, frames_per_second=500.0)], [], 0.0)
    assert workers.rows()[0].frames_per_second == 500.0
    workers.update([worker(1, frames_kept=1040, discarded={"buffer_full": 10})], [], 5.0)
    assert workers.rows()[0].frames_per_second == 10.0


def test_a_server_s_clock_that_is_set_back_does_not_freeze_the_rates():
    workers = Workers()
    workers.update([worker(1, frames_kept=1000, frames_per_second=500.0)], [], 7200.0)
    workers.update([worker(1, frames_kept=1000)], [], 3600.0)
    workers.update([worker(1, frames_kept=1050)], [], 3605.0)
    assert workers.rows()[0].frames_per_second == 10.0


def test_a_fast_step_among_fast_ones_is_not_slow():
    workers = Workers()
    workers.update([worker(1, step_seconds=1e-4), worker(2, step_seconds=1e-3)], [], 0.0)
    assert set(conditions(workers).values()) == {Condition.OK}


def test_lost_workers_are_forgotten_in_time_and_in_number():
    workers = Workers()
    workers.update([worker(n) for n in range(LOST_SHOWN + 10)], [], 0.0)
    workers.update([worker(0)], [], 1.0)
    assert (workers.num_connected, workers.num_seen) == (1, 1 + LOST_SHOWN)
    workers.update([worker(0)], [], 2.0 + LOST_SHOWN_S)
    assert workers.num_seen == 1


def test_those_that_the_queue_waits_for_are_marked():
    workers = Workers()
    workers.update([worker(1), worker(2)], [2], 0.0)
    assert [row.missing for row in workers.rows()] == [False, True]
