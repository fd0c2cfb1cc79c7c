"""``plugrl-flow serve``: a deployment in this process."""

import asyncio
from collections.abc import Sequence

from flows.deployment_names import require_name
from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.errors import UsageError
from plugrl.runs.prefect_api import ui_url


def run(argv: Sequence[str], prog: str) -> int:
    """Offer training until Ctrl-C.

    Raises:
        UsageError: the name or the limit is none.
        ApiUnavailableError: there is no Prefect API.
    """
    parser = FlagParser(
        prog=prog, description="Offer training as a deployment, whose runs are started from here."
    )
    parser.add_argument("--name", default="train", help="name of the deployment (train)")
    parser.add_argument("--limit", type=int, default=1, help="runs at a time (1)")
    arguments = parser.parse_args(list(argv))
    require_name(arguments.name, "--name")
    if arguments.limit < 1:
        raise UsageError(f"expected at least 1, got {arguments.limit}, at --limit")
    from flows.api import require_api

    url = require_api()
    from flows.deployments import offer

    write(f"start runs of train/{arguments.name} at {ui_url(url)}/deployments")
    asyncio.run(offer(arguments.name, limit=arguments.limit))
    return 0
