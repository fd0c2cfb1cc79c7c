"""What happens per second."""

import pytest

from plugrl_tui.core.feed_demo import DemoServer
from plugrl_tui.core.rates import Rates
from plugrl_tui.core.snapshot import Counters, InferQueue, Process, Snapshot


def snapshot(time: float, *, kept: int, discarded: int = 0, taken: int = 0) -> Snapshot:
    return (
        DemoServer()
        .advance(0.25)
        ._replace(
            time=time,
            counters=Counters(
                global_step=kept,
                frames_kept=kept,
                frames_discarded=discarded,
                discarded={"buffer_full": discarded},
            ),
            queue=InferQueue(envs_taken=taken),
            process=Process(1, "", time / 2, 1000),
        )
    )


def test_rates_are_differences_over_the_time_between():
    rates = Rates()
    assert rates.take(snapshot(0, kept=1000))
    assert rates.take(snapshot(2, kept=1100, discarded=20, taken=140))
    assert (rates.frames[-1], rates.actions[-1], rates.discarded[-1]) == (60.0, 70.0, 10.0)
    assert rates.by_cause["buffer_full"][-1] == 10.0
    assert rates.cpu[-1] == 0.5
    assert rates.steps_per_second == 50.0


def test_a_pace_is_known_from_the_second_sample_on_and_may_be_nothing():
    rates = Rates()
    rates.take(snapshot(0, kept=1000))
    assert rates.steps_per_second is None
    rates.take(snapshot(2, kept=1000))
    assert rates.steps_per_second == 0.0


def test_four_snapshots_a_second_make_one_sample():
    rates = Rates()
    made = [rates.take(snapshot(n / 4, kept=n)) for n in range(9)]
    assert made == [True, False, False, False, True, False, False, False, True]


def test_a_server_s_clock_that_is_set_back_begins_the_rates_anew():
    rates = Rates()
    made = [rates.take(snapshot(time, kept=int(time))) for time in (7200, 7201, 3600, 3601)]
    assert made == [True] * 4
    assert rates.steps_per_second == 1.0
    assert min(rates.frames) == 1.0


def test_the_share_of_discarded_frames_is_that_of_the_latest_frames():
    rates = Rates()
    rates.take(snapshot(0, kept=0))
    rates.take(snapshot(1, kept=0, discarded=1000))
    rates.take(snapshot(2, kept=900, discarded=1100))
    assert rates.discarded_share(1000) == (0.1, 1000)
    assert rates.discarded_share(5000) == pytest.approx((1100 / 2000, 2000))
