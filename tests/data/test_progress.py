import pytest

from plugrl.data.progress import LearnProgress
from plugrl.errors import LearnInterruptedError


def test_a_step_says_where_the_learn_is() -> None:
    progress = LearnProgress()
    progress.step(epoch=1, num_epochs=3, minibatch=2, num_minibatches=4)
    assert (progress.epoch, progress.num_epochs) == (1, 3)
    assert (progress.minibatch, progress.num_minibatches) == (2, 4)


def test_the_step_after_an_interruption_raises() -> None:
    progress = LearnProgress()
    progress.interrupt()
    with pytest.raises(LearnInterruptedError, match="epoch 1, minibatch 2"):
        progress.step(epoch=1, num_epochs=3, minibatch=2, num_minibatches=4)
