"""``plugrl-flow serve``: a deployment in this process."""

import asyncio
from argparse import ArgumentParser
from collections.abc import Sequence

from plugrl.cli.entry import write


def run(argv: Sequence[str], prog: str) -> int:
    """Offer training until Ctrl-C.

    Raises:
        ApiUnavailableError: there is no Prefect API.
    """
    parser = ArgumentParser(
        prog=prog, description="Offer training as a deployment, whose runs are started from here."
    )
    parser.add_argument("--name", default="train", help="name of the deployment (train)")
    parser.add_argument("--limit", type=int, default=1, help="runs at a time (1)")
    arguments = parser.parse_args(list(argv))
    from flows.api import require_api

    url = require_api()
    from flows.deployments import offer

    write(f"start runs of train/{arguments.name} at {url.removesuffix('/api')}/deployments")
    asyncio.run(offer(arguments.name, limit=arguments.limit))
    return 0
