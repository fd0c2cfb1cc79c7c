from plugrl.training.pace import NUM_LATEST_LEARNS, Pace


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_rate_counts_from_the_restored_step():
    clock = Clock()
    pace = Pace(10_000, 12_000, clock=clock)
    clock.now += 10
    assert pace.metrics(10_500) == {"time/elapsed_s": 10, "time/fps": 50}
    clock.now += 5
    assert pace.metrics(11_000) == {"time/elapsed_s": 15, "time/fps": 100, "time/eta_s": 10}


def test_a_slow_start_is_forgotten_after_some_learns():
    clock = Clock()
    pace = Pace(0, 10_000, clock=clock)
    clock.now += 1000
    for step in range(100, 100 * (NUM_LATEST_LEARNS + 2), 100):
        pace.metrics(step)
        clock.now += 1
    assert pace.metrics(100 * (NUM_LATEST_LEARNS + 2))["time/fps"] == 100


def test_nothing_is_claimed_before_there_is_progress():
    clock = Clock()
    pace = Pace(5, 10, clock=clock)
    assert pace.metrics(5) == {"time/elapsed_s": 0}
    clock.now += 1
    assert pace.metrics(5) == {"time/elapsed_s": 1}


def test_a_run_without_an_end_has_no_eta_and_one_beyond_it_has_none_left():
    clock = Clock()
    endless, over = Pace(0, None, clock=clock), Pace(0, 10, clock=clock)
    clock.now += 2
    assert endless.metrics(20) == {"time/elapsed_s": 2, "time/fps": 10}
    over.metrics(20)
    clock.now += 2
    assert over.metrics(30)["time/eta_s"] == 0
