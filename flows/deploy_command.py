"""``plugrl-flow deploy``: a deployment of a process work pool."""

import asyncio
from collections.abc import Sequence

from flows.deployment_names import require_name
from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.runs.prefect_api import ui_url


def run(argv: Sequence[str], prog: str) -> int:
    """Make the deployment and say how to go on.

    Raises:
        UsageError: a name is none, or the work pool is of another type.
        ApiUnavailableError: there is no Prefect API.
    """
    parser = FlagParser(
        prog=prog, description="Offer training as a deployment, whose runs a worker starts."
    )
    parser.add_argument("--name", default="train", help="name of the deployment (train)")
    parser.add_argument("--pool", default="plugrl", help="work pool, made where missing (plugrl)")
    arguments = parser.parse_args(list(argv))
    require_name(arguments.name, "--name")
    require_name(arguments.pool, "--pool")
    from flows.api import require_api

    url = require_api()
    from flows.deployments import deploy

    deployment = asyncio.run(deploy(arguments.name, pool=arguments.pool))
    write(
        f"deployment: {ui_url(url)}/deployments/deployment/{deployment}\n"
        f"its runs begin here once a worker is up:\n"
        f"  PREFECT_API_URL={url} prefect worker start --pool {arguments.pool} --limit 1"
    )
    return 0
