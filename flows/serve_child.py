"""The server process of a supervised run; ``plugrl.cli.child`` says how it is called.

Where it is told of a flow run, it is the flow ``serve``; with no Prefect at hand it trains all the
same. Its exit code says how it ended, whatever Prefect makes of that.
"""

import contextlib
import logging
import os
import signal
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flows import beside
from flows.leaving import leave
from flows.supervised import SERVE_RUN_VARIABLE
from plugrl.cli import child
from plugrl.cli.child import Link
from plugrl.cli.run_server import Order
from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, POLICIES
from plugrl.server import event_loop
from plugrl.server.loop import StopReason

logger = logging.getLogger(__name__)


def main() -> None:
    """Serve, and leave."""
    leave(child.main(serve, warm_up))


def warm_up(uids: Sequence[str]) -> None:
    """Import what takes seconds: Prefect, and torch where the policy or the algorithm needs it."""
    from flows import serve
    from plugrl.training import run

    logger.debug("%s and %s are here", serve.__name__, run.__name__)
    for registry, uid in zip((POLICIES, ALGORITHMS), uids, strict=False):
        # What is wrong with a name, or comes with a plug-in, the server itself will see.
        with contextlib.suppress(UsageError, ImportError):
            registry.cls(uid)


def serve(order: Order, link: Link) -> StopReason:
    """Serve as the flow run that the environment names, or as none."""
    flow_run_id = os.environ.pop(SERVE_RUN_VARIABLE, "")
    if not flow_run_id:
        return _plainly(order, link)
    outcome = beside.run(_as_flow_run(UUID(flow_run_id), order, link), event_loop.new)
    if outcome is None:
        return _plainly(order, link)
    if isinstance(outcome, StopReason):
        return outcome
    if not isinstance(outcome, Exception):
        # Prefect makes an exception of SIGTERM until the server listens to it.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    raise outcome


async def _as_flow_run(
    flow_run_id: UUID, order: Order, link: Link
) -> StopReason | BaseException | None:
    from prefect import Flow
    from prefect.flow_engine import run_flow_async

    from flows import serve
    from flows.attempts import read, tried

    flow_run = await tried("read the record of an attempt", read(flow_run_id))
    if flow_run is None:
        return None
    serve.job.set(serve.Job(order, link))
    flow: Flow[Any, Any] = serve.serve
    outcome: StopReason | BaseException | None = await beside.outcome_of(
        run_flow_async(flow, flow_run=flow_run, parameters=flow_run.parameters, return_type="state")
    )
    return outcome


def _plainly(order: Order, link: Link) -> StopReason:
    from flows.disk_work import patiently, saving, searching

    training_run = order.build(
        save=lambda *checkpoint: patiently(saving(order.spec, *checkpoint)),
        resume=lambda exp_dir: patiently(searching(exp_dir, order.spec)),
    )
    link.stop = training_run.server.request_stop
    return event_loop.run(order.serve(training_run, link.listening, link.concluded, link.stopping))


if __name__ == "__main__":
    main()
