"""A server process that imports what it needs while its supervisor is still finding out more.

That is Prefect and, where the policy or the algorithm needs it, torch. Together these take three
seconds, most of the time until a run's server is up.
"""

from collections.abc import Sequence

from flows.api import ensure_api
from plugrl.cli.child_process import Spare
from plugrl.cli.parsing import take_names
from plugrl.cli.run_server import NAMES
from plugrl.registry import POLICIES
from plugrl.runs import prefect_api

_spares: list[Spare] = []


def prepare(argv: Sequence[str]) -> None:
    """Have a spare server for the command ``train ARGV``, if Prefect's API is up.

    To start that one takes longer.
    """
    url = prefect_api.known_url()
    # Prefect reads its settings when it is imported: they have to be there before.
    if url is not None and prefect_api.is_healthy(url) and ensure_api() is not None:
        names, _ = take_names(argv, NAMES, POLICIES)
        _spares.append(Spare("flows.serve_child", names[::2]))


def dismiss() -> None:
    """End the spare that nobody has needed."""
    if (spare := take()) is not None:
        spare.end()


def take() -> Spare | None:
    """The spare, for the one that needs it first."""
    return _spares.pop() if _spares else None
