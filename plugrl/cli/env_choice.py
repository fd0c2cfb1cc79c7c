"""What ``--env NAME`` means, and the sizes of the env behind it."""

import re
from dataclasses import dataclass, replace
from typing import Any

from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import split_env_name
from plugrl.config.base import EnvSizes
from plugrl.errors import UnknownNameError
from plugrl.registry import ENVS

GYMNASIUM = "gym-v1"
_GYMNASIUM_ID = re.compile(r"([\w-]+/)?[A-Z][\w.-]*-v[0-9]+")
"""How those names look that are surely meant for Gymnasium, whether it knows them or not."""
OTHER_NAMES = "any Gymnasium id, or module:EnvClass"


@dataclass(frozen=True, slots=True)
class EnvChoice:
    """An env that a person named."""

    name: str
    """As it was named."""
    uid: str
    variant: str
    config: Any
    """What its ``--env.*`` flags are laid upon."""

    def client_arguments(self, config: Any) -> list[str]:
        """The name and the flags by which ``run-env-client`` runs ``config``."""
        return [self.name, *to_flags(config, self.config, prefix="env.")]

    def flags(self, config: Any) -> list[str]:
        """The ``--env.*`` flags that make ``config`` of the registered variant."""
        return to_flags(config, ENVS.variant(self.uid, self.variant), prefix="env.")


def choose_env(name: str, variant: str | None = None) -> EnvChoice:
    """The env of a name: NAME or NAME:VARIANT of the registry, a Gymnasium id or module:EnvClass.

    Args:
        name: what a person wrote.
        variant: the variant, where it was given apart.

    Raises:
        UnknownNameError: it is none of these.
    """
    uid, named_variant = split_env_name(name)
    if uid in ENVS.uids():
        variant = variant or named_variant
        return EnvChoice(name, uid, variant, ENVS.variant(uid, variant))
    if ":" in name or _GYMNASIUM_ID.fullmatch(name) or _is_registered(name):
        variant = variant or "default"
        config = replace(ENVS.variant(GYMNASIUM, variant), id=name)
        return EnvChoice(name, GYMNASIUM, variant, config)
    raise UnknownNameError("env", name, [*ENVS.uids(), *_with_colon(name)], beside=OTHER_NAMES)


def known_sizes(uid: str, config: Any) -> EnvSizes | None:
    """The sizes that the config knows, or else those of the env, made and closed once.

    Raises:
        UsageError: the env can't be made; says why.
    """
    sizes: EnvSizes | None = config.sizes()
    return sizes if sizes is not None else try_env(uid, config)


def try_env(uid: str, config: Any, *, filmed: bool = False) -> EnvSizes | None:
    """Make one env, reset it and close it: what fails here would fail in a client later.

    Args:
        uid: its registered name.
        config: its config.
        filmed: whether videos are to be made of it: it has to draw a picture, too.

    Returns:
        The env's sizes, where its class tells them.

    Raises:
        UsageError: it can't be made, or not be filmed; says why.
        EnvError: its first observation is none that can be sent.
    """
    import numpy as np

    from plugrl.envs.base import build_env

    if filmed:
        from plugrl.envs.video import to_be_filmed

        config = to_be_filmed(config)
    env = build_env(uid, config, 1)
    try:
        env.reset(np.zeros(1, np.int64), [0])
        if filmed:
            env.render()
        return env.sizes()
    finally:
        env.close()


def _with_colon(name: str) -> list[str]:
    """``module:EnvClass`` where ``module.EnvClass`` was meant to be that."""
    from plugrl.envs.gymnasium import is_env_class

    module, dot, attribute = name.rpartition(".")
    return [f"{module}:{attribute}"] if dot and is_env_class(module, attribute) else []


def _is_registered(name: str) -> bool:
    from plugrl.envs.gymnasium import is_registered

    return is_registered(name)
