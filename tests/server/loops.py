"""Loops without a server around them: how to make, use and stop one."""

import asyncio
from pathlib import Path

import numpy as np

from plugrl.protocol.messages import Infer
from plugrl.server.algorithm import SavedCheckpoint
from plugrl.server.batcher import Batcher
from plugrl.server.loop import Loop, StopReason
from tests.server.conftest import InProcess, Scripted, observe


class Saved:
    """A saver that counts, and fails when told to."""

    def __init__(self, algorithm: Scripted) -> None:
        self.algorithm = algorithm
        self.steps: list[int] = []
        self.error: Exception | None = None

    def snapshot(self):
        step = self.algorithm.global_step

        def write() -> SavedCheckpoint:
            if self.error is not None:
                raise self.error
            self.steps.append(step)
            return SavedCheckpoint(Path(str(step)), step, num_bytes=1, seconds=0.0)

        return write


def loop_of(
    algorithm: Scripted,
    saver: Saved | None = None,
    stop_timeout_s: float = 5.0,
    min_envs: int | None = None,
) -> Loop:
    """Its workers are ``LocalWorker``s."""
    return Loop(
        algorithm,
        Batcher(min_envs=min_envs),
        learner=InProcess(algorithm),
        saver=saver,
        report=lambda metrics, step: None,
        stop_timeout_s=stop_timeout_s,
    )


def infer_for(envs: list[int]) -> Infer:
    return Infer(observe(len(envs)), np.array(envs), np.zeros(len(envs), np.int64))


async def stop(loop: Loop, task: "asyncio.Task[StopReason]") -> None:
    """End a run that is well."""
    loop.request_stop()
    assert await asyncio.wait_for(task, 5) is StopReason.STOPPED
