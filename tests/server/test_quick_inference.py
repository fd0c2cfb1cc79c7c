"""Inferences quick enough to be made in the very call that completes a batch."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from plugrl.protocol.messages import Infer
from plugrl.server.local import LocalWorker
from plugrl.server.loop import Loop, StopReason
from tests.server.conftest import Scripted, feedback_for, observe
from tests.server.loops import Saved, infer_for, loop_of, stop


@dataclass
class Run:
    """A loop that runs, waits, and has found its inferences to be quick."""

    algorithm: Scripted
    saver: Saved
    loop: Loop
    worker: LocalWorker
    task: "asyncio.Task[StopReason]"


async def run_of(min_envs: int | None = None) -> Run:
    algorithm = Scripted()
    saver = Saved(algorithm)
    loop = loop_of(algorithm, saver, min_envs=min_envs)
    worker = LocalWorker(loop)
    task = asyncio.create_task(loop.run())
    while not loop.turn.is_quick:
        await worker.act(infer_for([0]))
        worker.feedback(feedback_for([0]))
    # The loop goes back to wait for what is next.
    await asyncio.sleep(0)
    algorithm.infer_sizes.clear()
    return Run(algorithm, saver, loop, worker, task)


@pytest.fixture
async def run() -> AsyncIterator[Run]:
    """Stopped behind a test that has not ended it."""
    run = await run_of()
    yield run
    if not run.task.done():
        await stop(run.loop, run.task)


async def test_a_quick_inference_is_done_in_the_call_that_completes_the_batch(run):
    states = [run.worker.state]
    run.loop.infer(run.worker, infer_for([0]))
    states.append(run.worker.state)
    other = LocalWorker(run.loop)
    run.worker.feedback(feedback_for([0]))
    run.loop.infer(run.worker, infer_for([0]))
    states.append(run.worker.state)
    run.loop.infer(other, infer_for([0]))
    states += [run.worker.state, other.state]
    assert states == ["between", "stepping", "queued", "stepping", "stepping"]


async def test_with_a_minimum_size_who_asks_at_the_same_time_shares_the_batch():
    run = await run_of(min_envs=1)
    workers = [run.worker, LocalWorker(run.loop), LocalWorker(run.loop)]
    await asyncio.gather(*[worker.act(infer_for([0])) for worker in workers])
    assert run.algorithm.infer_sizes == [3]
    await stop(run.loop, run.task)


async def test_no_quick_inference_happens_once_a_learn_is_due(run):
    algorithm = run.algorithm
    run.loop.infer(run.worker, infer_for([0]))
    algorithm.config = replace(algorithm.config, fake_learn_freq=algorithm.global_step + 1)
    run.worker.feedback(feedback_for([0]))
    version = algorithm.num_learns
    await run.worker.act(infer_for([0]))
    assert algorithm.num_learns == version + 1


async def test_an_error_of_a_quick_inference_ends_the_run_and_not_the_worker_that_asked(run):
    run.algorithm.infer_error = RuntimeError("boom")
    run.loop.infer(run.worker, infer_for([0]))
    with pytest.raises(RuntimeError, match="boom"):
        await asyncio.wait_for(run.task, 5)


async def test_an_error_of_a_quick_inference_counts_before_a_stop_and_before_later_errors(run):
    run.algorithm.infer_error = RuntimeError("the cause")
    run.loop.infer(run.worker, infer_for([0]))
    run.algorithm.infer_error = RuntimeError("what came of it")
    run.worker.feedback(feedback_for([0]))
    run.loop.infer(run.worker, infer_for([0]))
    run.loop.request_stop()
    with pytest.raises(RuntimeError, match="the cause"):
        await asyncio.wait_for(run.task, 5)
    assert run.saver.steps == []


async def test_a_run_that_a_quick_inference_finishes_ends(run):
    run.algorithm.config = replace(run.algorithm.config, global_steps=1)
    run.loop.infer(run.worker, infer_for([0]))
    assert await asyncio.wait_for(run.task, 5) is StopReason.FINISHED


async def test_a_save_that_was_asked_for_comes_before_a_quick_inference(run):
    run.loop.request_save()
    acting = asyncio.create_task(run.worker.act(infer_for([0])))
    await asyncio.sleep(0)
    assert not acting.done()
    await acting
    assert len(run.saver.steps) == 1


async def test_observations_of_two_forms_are_answered_in_one_call(run):
    other = LocalWorker(run.loop)
    wide = Infer(observe(2, width=5), np.arange(2), np.zeros(2, np.int64))
    actions = await asyncio.gather(run.worker.act(infer_for([0])), other.act(wide))
    assert [action.shape[1] for action in actions] == [1, 2]
    assert run.algorithm.infer_sizes == [1, 2]
