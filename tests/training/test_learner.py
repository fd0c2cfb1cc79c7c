import pytest

from plugrl.data.progress import LearnProgress
from plugrl.errors import LearnInterruptedError
from plugrl.training.learner import InProcessLearner


class InterruptedAfter(LearnProgress):
    """Interrupts itself before the given minibatch of the second epoch."""

    def step(self, *, epoch: int, num_epochs: int, minibatch: int, num_minibatches: int) -> None:
        if (epoch, minibatch) == (1, 2):
            self.interrupt()
        super().step(
            epoch=epoch,
            num_epochs=num_epochs,
            minibatch=minibatch,
            num_minibatches=num_minibatches,
        )


def test_a_learn_changes_the_state_and_returns_metrics(make_ppo, collected, equal):
    algorithm = make_ppo()
    collected(algorithm)
    before = algorithm.state()
    metrics = InProcessLearner(algorithm).learn(LearnProgress())
    assert metrics
    assert not equal(algorithm.state(), before)
    assert algorithm.num_learns == 1


def test_an_interrupted_learn_leaves_no_trace_and_drops_the_frames(make_ppo, collected, equal):
    algorithm = make_ppo()
    collected(algorithm)
    before = algorithm.state()
    with pytest.raises(LearnInterruptedError):
        InProcessLearner(algorithm).learn(InterruptedAfter())
    assert equal(algorithm.state(), before)
    assert not algorithm.should_learn()
    assert algorithm.global_step == 0
