import threading
import time
from typing import Any

import numpy as np

from plugrl.algorithms.dummy import Dummy
from plugrl.config.dummy import DummyConfig, DummyPolicyConfig
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.errors import LearnInterruptedError
from plugrl.policies.dummy import DummyPolicy
from plugrl.protocol.messages import Observation


def dummy(**fields: Any) -> Dummy:
    return Dummy(DummyConfig(**fields), DummyPolicy(DummyPolicyConfig()))


def frames(m: int) -> Frames:
    obs = Observation({}, {"x": np.zeros((m, 1))}, np.full(m, ""))
    return Frames(
        streams=np.arange(m),
        sequence=np.zeros(m, np.int64),
        obs=obs,
        actions=np.zeros((m, 1, 7), np.float32),
        step_state=None,
        rewards=np.ones(m),
        next_terminated=np.ones(m, bool),
        next_truncated=np.zeros(m, bool),
        next_obs=obs,
        info={"episode": {"r": np.ones(m), "l": np.ones(m, int)}},
    )


def test_it_stores_frames_until_a_learn_is_due() -> None:
    algorithm = dummy(fake_learn_freq=5)
    assert algorithm.feedback(frames(3)) == 3
    assert not algorithm.should_learn()
    assert algorithm.feedback(frames(3)) == 2
    assert algorithm.should_learn()
    assert algorithm.global_step == 5
    assert algorithm.episodes.num_episodes == 5


def test_it_stops_at_exactly_the_steps_asked_for() -> None:
    algorithm = dummy(global_steps=4, fake_learn_freq=100)
    assert algorithm.feedback(frames(3)) == 3
    assert not algorithm.should_stop()
    assert algorithm.feedback(frames(3)) == 1
    assert algorithm.should_stop()


def test_a_learn_starts_a_new_collection() -> None:
    algorithm = dummy(fake_learn_freq=2, save_interval=2)
    saves = []
    for _ in range(4):
        algorithm.feedback(frames(2))
        algorithm.learn(LearnProgress())
        saves.append(algorithm.should_save())
        assert not algorithm.should_learn()
    assert algorithm.num_learns == 4
    assert saves == [False, True, False, True]


def test_a_learn_takes_as_long_as_it_is_told() -> None:
    algorithm = dummy(fake_learn_duration_sec=0.05)
    start = time.monotonic()
    algorithm.learn(LearnProgress())
    assert time.monotonic() - start >= 0.05


def test_an_inference_takes_as_long_as_it_is_told() -> None:
    algorithm = dummy(fake_inference_duration_sec=0.03)
    start = time.monotonic()
    algorithm.infer(frames(1).obs)
    assert time.monotonic() - start >= 0.03


def test_a_long_learn_hears_an_interruption_at_once() -> None:
    algorithm = dummy(fake_learn_duration_sec=3600.0)
    progress = LearnProgress()
    caught = []

    def learn() -> None:
        try:
            algorithm.learn(progress)
        except LearnInterruptedError as error:
            caught.append(error)

    thread = threading.Thread(target=learn)
    thread.start()
    progress.interrupt()
    thread.join(5)
    assert not thread.is_alive()
    assert caught
    assert algorithm.num_learns == 0


def test_it_goes_on_from_its_state() -> None:
    first, second = dummy(fake_learn_freq=2), dummy(fake_learn_freq=2)
    first.feedback(frames(2))
    first.learn(LearnProgress())
    second.load_state(first.state())
    assert (second.global_step, second.num_learns) == (2, 1)
    assert second.episodes.metrics() == first.episodes.metrics()
