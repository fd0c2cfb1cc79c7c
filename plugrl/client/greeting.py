"""Whether a server's greeting is that of the launch and of the env that its client is of."""

import os
from collections.abc import Mapping
from typing import Any

from plugrl.config.base import EnvSizes
from plugrl.config.server import LAUNCH_ID_VARIABLE
from plugrl.errors import ConnectionLostError, IncompatibleError

_REMEDY = "start the server for this env, or this client for the server's"


def require_same_launch(metadata: Mapping[str, Any], address: str) -> None:
    """Refuse a server that listens where the one of our own launch did.

    To clients that no launch started any server will do.

    Raises:
        ConnectionLostError: it is of another launch, or of none; ours may come back.
    """
    ours = os.environ.get(LAUNCH_ID_VARIABLE)
    if ours and metadata.get("launch_id") != ours:
        raise ConnectionLostError(f"expected this launch's server, got another's, at {address}")


def require_same_sizes(metadata: Mapping[str, Any], sizes: EnvSizes) -> None:
    """Refuse a server that is of another env, before it refuses what that env sends.

    What ``metadata`` lacks, or has in another form than ours, is taken for unknown.

    Raises:
        IncompatibleError: names both sizes.
    """
    obs_dim, action_dim = (_width(metadata.get(key)) for key in ("obs_dim", "action_dim"))
    if obs_dim not in {None, sizes.obs_dim}:
        raise IncompatibleError(
            f"this server wants states {obs_dim} wide in all, the env has {sizes.obs_dim}; "
            f"{_REMEDY}"
        )
    num_choices = _choices(metadata.get("num_choices"))
    if num_choices not in {None, sizes.num_choices}:
        raise IncompatibleError(
            f"this server's actions are {_kind(num_choices)}, the env's "
            f"{_kind(sizes.num_choices)}; {_REMEDY}"
        )
    env_dim = len(sizes.num_choices) or sizes.action_dim
    if action_dim not in {None, env_dim}:
        raise IncompatibleError(
            f"this server's actions are {action_dim} wide, the env's {env_dim}; {_REMEDY}"
        )


def _width(told: Any) -> int | None:
    return told if type(told) is int and told >= 1 else None


def _choices(told: Any) -> tuple[int, ...] | None:
    """Choices of each component, none of them where actions are continuous."""
    known = isinstance(told, list) and all(_width(number) for number in told)
    return tuple(told) if known else None


def _kind(num_choices: tuple[int, ...] | None) -> str:
    return f"one of {list(num_choices)} choices" if num_choices else "continuous"
