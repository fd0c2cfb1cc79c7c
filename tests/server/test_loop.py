"""The loop with workers in this process: the frame rule, learning, saving, stopping."""

import asyncio
import threading

import numpy as np
import pytest

from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.errors import (
    CheckpointError,
    LearnDivergedError,
    LearnInterruptedError,
    PlugRLError,
    ServerStoppedError,
)
from plugrl.protocol.closing import SERVER_STOP
from plugrl.server.local import LocalWorker
from plugrl.server.loop import Loop, StopReason
from plugrl.server.worker import DiscardCause
from tests.server.conftest import Scripted, feedback_for, hold_learns, until
from tests.server.loops import Saved, infer_for, loop_of, stop


async def test_actions_come_time_major_and_frames_come_back_whole():
    algorithm = Scripted()
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    actions = await worker.act(infer_for([0, 1, 2]))
    assert actions.shape == (1, 3, 2)
    worker.feedback(feedback_for([2, 0], reward=3.0))
    await worker.act(infer_for([0]))
    (frames,) = algorithm.taken
    np.testing.assert_array_equal(frames.rewards, [3.0, 3.0])
    assert frames.actions.shape == (2, 1, 2)
    assert loop.collector.frames_kept == algorithm.global_step == 2
    await stop(loop, task)


async def test_a_second_feedback_for_one_action_is_discarded():
    algorithm = Scripted()
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0, 1]))
    worker.feedback(feedback_for([0]))
    await worker.act(infer_for([5]))
    worker.feedback(feedback_for([0, 1]))
    await worker.act(infer_for([5]))
    assert loop.collector.discarded == {DiscardCause.NO_STEP_STATE: 1}
    assert algorithm.global_step == 2
    await stop(loop, task)


async def test_a_frame_of_an_older_policy_is_discarded_and_its_episode_counts():
    algorithm = Scripted(fake_learn_freq=1)
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0, 1]))
    worker.feedback(feedback_for([0]))
    await worker.act(infer_for([2]))
    assert algorithm.num_learns == 1
    episode = {"r": np.array([7.0]), "l": np.array([4])}
    worker.feedback(feedback_for([1], done=True, episode=episode))
    await worker.act(infer_for([2]))
    assert loop.collector.discarded == {DiscardCause.OLDER_POLICY: 1}
    assert list(algorithm.episodes.returns) == [7.0]
    await stop(loop, task)


async def test_rows_beyond_a_full_buffer_are_discarded():
    algorithm = Scripted(fake_learn_freq=3)
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0, 1, 2, 3, 4]))
    worker.feedback(feedback_for([0, 1, 2, 3, 4]))
    await worker.act(infer_for([0]))
    assert loop.collector.discarded == {DiscardCause.BUFFER_FULL: 2}
    assert algorithm.global_step == 3
    await stop(loop, task)


async def test_an_off_policy_algorithm_gets_every_frame_with_step_state():
    algorithm = Scripted(fake_learn_freq=1)
    algorithm.on_policy = False  # type: ignore[misc]
    algorithm.feedback = len  # type: ignore[method-assign, assignment]
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0, 1]))
    worker.feedback(feedback_for([0]))
    await worker.act(infer_for([2]))
    algorithm.num_learns += 1
    worker.feedback(feedback_for([1]))
    await worker.act(infer_for([2]))
    assert loop.collector.frames_kept == 2
    await stop(loop, task)


async def test_no_inference_happens_before_a_due_learn():
    algorithm = Scripted(fake_learn_freq=2)
    learned_at: list[int] = []
    algorithm.learn_hook = lambda progress: learned_at.append(len(algorithm.infer_sizes))
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    for _ in range(5):
        await worker.act(infer_for([0]))
        worker.feedback(feedback_for([0]))
    await stop(loop, task)
    assert learned_at[:2] == [2, 4]


async def test_the_event_loop_lives_while_a_learn_runs():
    algorithm = Scripted(fake_learn_freq=1)
    learning, go_on = hold_learns(algorithm)
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0]))
    worker.feedback(feedback_for([0]))
    await asyncio.to_thread(learning.wait, 5)
    # This line runs at all only because the learn does not hold the event loop.
    assert loop.progress is not None
    go_on.set()
    await worker.act(infer_for([0]))
    await stop(loop, task)


async def test_a_finished_run_saves_and_says_so():
    algorithm = Scripted(global_steps=2)
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0, 1]))
    worker.feedback(feedback_for([0, 1]))
    assert await asyncio.wait_for(task, 5) is StopReason.FINISHED
    assert saver.steps == [2]


async def test_what_the_last_learn_has_saved_is_not_saved_again():
    algorithm = Scripted(fake_learn_freq=1, save_interval=1, global_steps=2)
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    for _ in range(2):
        await worker.act(infer_for([0]))
        worker.feedback(feedback_for([0]))
    await asyncio.wait_for(task, 5)
    assert saver.steps[-1] == 2
    assert saver.steps.count(2) == 1


async def test_a_failed_write_goes_on_with_training_and_is_loud(caplog):
    algorithm = Scripted(fake_learn_freq=1, save_interval=1)
    saver = Saved(algorithm)
    saver.error = OSError(28, "No space left on device")
    loop = loop_of(algorithm, saver)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    for _ in range(3):
        await worker.act(infer_for([0]))
        worker.feedback(feedback_for([0]))
    await worker.act(infer_for([0]))
    await until(lambda: loop.saving.num_failed >= 1)
    assert "CHECKPOINT NOT SAVED" in caplog.text
    assert "No space left" in caplog.text
    saver.error = None
    await stop(loop, task)
    assert saver.steps[-1] == 3


async def test_a_last_checkpoint_that_fails_is_an_error():
    algorithm = Scripted()
    saver = Saved(algorithm)
    saver.error = OSError(28, "No space left on device")
    loop = loop_of(algorithm, saver)
    loop.request_stop()
    with pytest.raises(CheckpointError, match="could not be written; no checkpoint was"):
        await loop.run()


async def test_an_error_of_the_algorithm_ends_the_run_and_saves_nothing():
    algorithm = Scripted()
    algorithm.infer_error = RuntimeError("boom")
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    acting = asyncio.create_task(worker.act(infer_for([0])))
    with pytest.raises(RuntimeError, match="boom"):
        await task
    acting.cancel()
    assert saver.steps == []


async def test_an_error_over_a_feedback_ends_the_run_and_not_the_worker_that_sent_it(monkeypatch):
    algorithm = Scripted()
    loop = loop_of(algorithm, Saved(algorithm))
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0]))

    def refuse(frames: Frames) -> int:
        raise RuntimeError("boom")

    monkeypatch.setattr(algorithm, "feedback", refuse)
    worker.feedback(feedback_for([0]))
    with pytest.raises(RuntimeError, match="boom"):
        await task


async def test_a_run_that_diverged_says_where_its_last_checkpoint_is():
    algorithm = Scripted(fake_learn_freq=1, save_interval=1)
    loop = loop_of(algorithm, Saved(algorithm))
    worker = LocalWorker(loop)

    def diverge(progress: LearnProgress) -> None:
        if algorithm.num_learns == 1:
            raise LearnDivergedError("the loss is nan")

    algorithm.learn_hook = diverge
    task = asyncio.create_task(loop.run())
    for _ in range(2):
        await worker.act(infer_for([0]))
        await until(lambda: bool(loop.saving.written) or not algorithm.num_learns)
        worker.feedback(feedback_for([0]))
    last = loop.saving.written[-1].path
    with pytest.raises(LearnDivergedError, match=f"nan; the last checkpoint is {last}"):
        await task


async def _start_a_learn(loop: Loop, learning: threading.Event) -> "asyncio.Task[StopReason]":
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0]))
    worker.feedback(feedback_for([0]))
    assert await asyncio.to_thread(learning.wait, 5)
    return task


async def test_a_stop_waits_for_the_learn_in_progress():
    algorithm = Scripted(fake_learn_freq=1)
    learning, go_on = hold_learns(algorithm)
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver)
    task = await _start_a_learn(loop, learning)
    loop.request_stop()
    go_on.set()
    assert await asyncio.wait_for(task, 5) is StopReason.STOPPED
    assert algorithm.num_learns == 1
    assert saver.steps == [1]


async def test_a_learn_that_takes_too_long_to_stop_is_interrupted_and_saved_without(caplog):
    algorithm = Scripted(fake_learn_freq=1)
    learning = threading.Event()

    def endless(progress: LearnProgress) -> None:
        learning.set()
        while True:
            progress.step(epoch=0, num_epochs=1, minibatch=0, num_minibatches=1)

    algorithm.learn_hook = endless
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver, stop_timeout_s=0.01)
    task = await _start_a_learn(loop, learning)
    loop.request_stop()
    assert await asyncio.wait_for(task, 5) is StopReason.STOPPED
    assert algorithm.num_learns == 0
    assert "rolled back" in caplog.text
    assert len(saver.steps) == 1


async def test_a_learn_that_never_looks_is_given_up_and_nothing_is_saved(monkeypatch):
    monkeypatch.setattr("plugrl.server.loop._ROLL_BACK_TIMEOUT_S", 0.01)
    algorithm = Scripted(fake_learn_freq=1)
    learning, end = threading.Event(), threading.Event()

    def deaf(progress: LearnProgress) -> None:
        learning.set()
        end.wait(20)

    algorithm.learn_hook = deaf
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver, stop_timeout_s=0.01)
    task = await _start_a_learn(loop, learning)
    loop.request_stop()
    with pytest.raises(PlugRLError, match="nothing was saved"):
        await asyncio.wait_for(task, 5)
    end.set()
    assert saver.steps == []


async def test_a_local_worker_is_told_that_the_run_is_over():
    algorithm = Scripted(global_steps=1)
    loop = loop_of(algorithm)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    await worker.act(infer_for([0]))
    worker.feedback(feedback_for([0]))
    acting = asyncio.create_task(worker.act(infer_for([0])))
    await asyncio.wait_for(task, 5)
    worker.close(SERVER_STOP)
    with pytest.raises(ServerStoppedError):
        await acting


def test_interrupting_a_progress_makes_its_next_step_raise():
    progress = LearnProgress()
    progress.step(epoch=0, num_epochs=1, minibatch=0, num_minibatches=2)
    progress.interrupt()
    with pytest.raises(LearnInterruptedError, match="epoch 0, minibatch 1"):
        progress.step(epoch=0, num_epochs=1, minibatch=1, num_minibatches=2)
