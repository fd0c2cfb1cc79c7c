"""What can be chosen by name, and which choices can train together; imports no implementation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from plugrl.errors import IncompatibleError, UnknownNameError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES
from plugrl.training.compatibility import require_compatible, require_kind_of_actions
from plugrl.training.spec import RunSpec

GYMNASIUM = "gym-v1"
_FOREIGN_ENV = re.compile(r"[\w.]+:\w+|([\w-]+/)?[\w.-]+-v[0-9]+")
"""``module:EnvClass``, or how Gymnasium's ids look."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """What a run is made of, by name."""

    policy: str = "gaussian-policy"
    policy_variant: str = "default"
    algorithm: str = "ppo"
    algorithm_variant: str = "default"
    env: str | None = "hopper"
    """NAME or NAME:VARIANT, a Gymnasium id, or module:EnvClass; None: the clients decide."""


def policy_config(names: Names) -> Any:
    """The variant of the policy.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return POLICIES.variant(names.policy, names.policy_variant)


def algorithm_config(names: Names) -> Any:
    """The variant of the algorithm.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return ALGORITHMS.variant(names.algorithm, names.algorithm_variant)


def env_config(name: str) -> Any:
    """The config that an env's name stands for; Gymnasium is not asked whether it knows an id.

    Raises:
        UnknownNameError: it is neither registered nor like an id or a class.
    """
    uid, _, variant = name.partition(":")
    if uid in ENVS.uids():
        return ENVS.variant(uid, variant or "default")
    if _FOREIGN_ENV.fullmatch(name):
        return replace(ENVS.variant(GYMNASIUM, "default"), id=name)
    raise UnknownNameError("env", name, ENVS.uids(), beside="any Gymnasium id, or module:EnvClass")


def env_names() -> list[str]:
    """Every registered env and variant, as ``--env`` takes it."""
    return [
        uid if variant == "default" else f"{uid}:{variant}"
        for uid in ENVS.uids()
        for variant in ENVS.variants(uid)
    ]


def policies_for(names: Names) -> list[str]:
    """The policies that the algorithm can train in the env."""
    return [uid for uid in POLICIES.uids() if why_unfit(_with_policy(names, uid)) is None]


def every_combination() -> Iterator[Names]:
    """All policies and algorithms, variant by variant, that can train together, in any env."""
    for policy in POLICIES.uids():
        for policy_variant in POLICIES.variants(policy):
            for algorithm in ALGORITHMS.uids():
                for algorithm_variant in ALGORITHMS.variants(algorithm):
                    names = Names(
                        policy=policy,
                        policy_variant=policy_variant,
                        algorithm=algorithm,
                        algorithm_variant=algorithm_variant,
                        env=None,
                    )
                    if why_unfit(names) is None:
                        yield names


def why_unfit(names: Names) -> str | None:
    """Why these can't train together, in the command line's words; None where they can.

    Raises:
        UnknownNameError: a name is not registered.
    """
    env = None if names.env is None else env_config(names.env)
    spec = RunSpec(
        policy=names.policy,
        policy_variant=names.policy_variant,
        policy_config=policy_config(names),
        algorithm=names.algorithm,
        algorithm_variant=names.algorithm_variant,
        algorithm_config=algorithm_config(names),
        env=names.env,
        sizes=None if env is None else env.sizes(),
    )
    try:
        require_compatible(spec)
        require_kind_of_actions(spec)
    except IncompatibleError as error:
        return str(error)
    return None


def _with_policy(names: Names, uid: str) -> Names:
    variants = POLICIES.variants(uid)
    kept = names.policy_variant if names.policy_variant in variants else next(iter(variants))
    return replace(names, policy=uid, policy_variant=kept)
