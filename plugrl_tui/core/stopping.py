"""How a run is stopped: asked over its server, else by a signal; and what to do if it won't."""

import contextlib
import os
import signal

from plugrl.runs.records import RunStatus
from plugrl_tui.core import format as fmt
from plugrl_tui.core.feed import Feed, FeedError
from plugrl_tui.core.model import Link, RunModel
from plugrl_tui.core.stages import Progress, Stage

PATIENCE_S = 45.0
"""A stop that has not ended after so long may be forced."""


def announcement(model: RunModel) -> list[str]:
    """What a graceful stop will do, in sentences."""
    snapshot = model.snapshot
    lines = []
    if snapshot is not None and snapshot.learn is not None:
        lines.append("The learn in progress is finished, or rolled back if it takes too long.")
    else:
        lines.append("Frames collected since the last learn are dropped.")
    lines.append("A checkpoint is saved, then the run can be resumed from there.")
    num = len(snapshot.workers) if snapshot is not None else 0
    if num:
        lines.append(f"{num} env client{'s' if num > 1 else ''} will be told to leave.")
    return lines


async def ask(model: RunModel, feed: Feed) -> str:
    """Ask the run to stop; returns whom was asked, in words.

    Raises:
        FeedError: nobody can be asked.
    """
    if model.link is Link.LIVE:
        await feed.send("stop")
        return f"asked the server at {model.url}"
    from plugrl.runs.liveness import owner_lives

    status = _local_status(model)
    if status is not None and owner_lives(status):
        assert status.pid is not None
        os.kill(status.pid, signal.SIGTERM)
        return f"asked process {status.pid}"
    raise FeedError("expected a run that goes on here, or a server that answers; there is neither")


def stages(model: RunModel) -> list[Stage]:
    """Where a stop that was asked for is."""
    snapshot, final = model.snapshot, model.is_over
    learning = snapshot is not None and snapshot.learn is not None
    phase = snapshot.phase if snapshot is not None else ""
    place = 3 if final else 2 if model.link is not Link.LIVE else 1 if not learning else 0
    if phase == "finished" and not final:
        place = 2
    texts = (
        "finish what is in progress" + (f" ({_learn(model)})" if learning and not final else ""),
        "save a checkpoint",
        "close the env clients",
    )
    return [
        Stage(text, Progress.DONE if i < place else Progress.NOW if i == place else Progress.AHEAD)
        for i, text in enumerate(texts)
    ]


def can_force(model: RunModel) -> bool:
    """Whether there are processes here that can be killed."""
    return bool(_processes(model))


def force(model: RunModel) -> str:
    """Kill the run's processes, the supervisor first, so that it starts no other server.

    Raises:
        FeedError: there are none here.
    """
    processes = _processes(model)
    if not processes:
        raise FeedError("expected the run's processes on this machine, there are none")
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):  # it has ended just now
            os.kill(pid, signal.SIGKILL)
    saved = model.checkpoint
    step = "none was saved" if saved is None else f"the last is of step {fmt.grouped(saved.step)}"
    return f"killed {', '.join(map(str, processes))}; checkpoints stand as they are, {step}"


def _processes(model: RunModel) -> list[int]:
    from plugrl.runs.liveness import living_pids

    status = _local_status(model)
    return [] if status is None else living_pids(status)


def _local_status(model: RunModel) -> RunStatus | None:
    from plugrl.runs.liveness import on_this_host

    status = model.status
    return status if status is not None and on_this_host(status) else None


def _learn(model: RunModel) -> str:
    learn = model.snapshot.learn if model.snapshot else None
    if learn is None or not learn.num_epochs:
        return "a learn"
    return (
        f"epoch {learn.epoch + 1}/{learn.num_epochs}, "
        f"minibatch {learn.minibatch + 1}/{learn.num_minibatches}"
    )
