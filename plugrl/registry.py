"""What can be chosen by name: uid -> named variants and the class that runs them.

An entry is two strings, resolved on first use, so that listing names imports nothing heavy.
Third parties add entries with the ``register_*`` decorators (in a module named by ``--import``)
or with an entry point in the group ``plugrl.plugins`` that names such a module.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, TypeVar

from plugrl.errors import UnknownNameError, UsageError

ENTRY_POINT_GROUP = "plugrl.plugins"

T = TypeVar("T")


@dataclass
class Entry:
    """One uid."""

    variants_at: str | None = None
    """``"module:ATTRIBUTE"`` or ``"module:ATTRIBUTE#key"``: a dict from variant name to config."""
    class_at: str | None = None
    """``"module:Class"`` of what the config configures."""
    variants: dict[str, Any] = field(default_factory=dict)
    """Variants registered by decorators, on top of those at ``variants_at``."""
    cls: type | None = None
    """The class, where a decorator registered it."""


class Registry:
    """A dict from uid to entry that resolves lazily and suggests the nearest name."""

    def __init__(self, kind: str, entries: dict[str, Entry]) -> None:
        """Hold ``entries``; ``kind`` is the word used in error messages."""
        self.kind = kind
        self._entries = entries

    def uids(self) -> list[str]:
        """All uids, sorted."""
        return sorted(self._entries)

    def variants(self, uid: str) -> dict[str, Any]:
        """The named config instances of ``uid``.

        Raises:
            UnknownNameError: ``uid`` is not registered.
        """
        entry = self._entry(uid)
        built_in = _resolve(entry.variants_at) if entry.variants_at else {}
        return {**built_in, **entry.variants}

    def variant(self, uid: str, name: str) -> Any:
        """One config instance.

        Raises:
            UnknownNameError: ``uid`` or its variant ``name`` is not registered.
        """
        variants = self.variants(uid)
        if name not in variants:
            raise UnknownNameError(f"variant of {self.kind} {uid!r}", name, variants)
        return variants[name]

    def cls(self, uid: str) -> type:
        """The class that runs ``uid``; imports its module.

        Raises:
            UnknownNameError: ``uid`` is not registered.
            UsageError: only a config was registered for it.
        """
        entry = self._entry(uid)
        if entry.cls is not None:
            return entry.cls
        if entry.class_at is None:
            raise UsageError(f"{self.kind} {uid!r} has a config but no class registered")
        resolved: type = _resolve(entry.class_at)
        return resolved

    def register(self, uid: str) -> Callable[[type[T]], type[T]]:
        """Class decorator that makes the decorated class the one that runs ``uid``."""

        def decorate(cls: type[T]) -> type[T]:
            self._entries.setdefault(uid, Entry()).cls = cls
            return cls

        return decorate

    def register_config(self, uid: str, variant: str = "default") -> Callable[[T], T]:
        """Decorator of a config class, or of a function without arguments that makes one."""

        def decorate(factory: T) -> T:
            assert callable(factory)
            self._entries.setdefault(uid, Entry()).variants[variant] = factory()
            return factory

        return decorate

    def _entry(self, uid: str) -> Entry:
        if uid not in self._entries:
            beside = "what a module registers, with --import MODULE"
            raise UnknownNameError(self.kind, uid, self._entries, beside=beside)
        return self._entries[uid]


def _resolve(location: str) -> Any:
    module, _, attribute = location.partition(":")
    attribute, _, key = attribute.partition("#")
    value = getattr(importlib.import_module(module), attribute)
    return value[key] if key else value


POLICIES = Registry(
    "policy",
    {
        "dummy-policy": Entry("plugrl.config.dummy:POLICIES", "plugrl.policies.dummy:DummyPolicy"),
        "gaussian-policy": Entry(
            "plugrl.config.gaussian:VARIANTS", "plugrl.policies.gaussian:GaussianPolicy"
        ),
        "categorical-policy": Entry(
            "plugrl.config.categorical:VARIANTS", "plugrl.policies.categorical:CategoricalPolicy"
        ),
    },
)

ALGORITHMS = Registry(
    "algorithm",
    {
        "dummy": Entry("plugrl.config.dummy:ALGORITHMS", "plugrl.algorithms.dummy:Dummy"),
        "eval": Entry(
            "plugrl.config.evaluation:VARIANTS", "plugrl.algorithms.evaluation:Evaluation"
        ),
        "ppo": Entry("plugrl.config.ppo:VARIANTS", "plugrl.algorithms.ppo:PPO"),
    },
)

# Short names for gym-v1 with an id, and sizes that the server knows without gymnasium.
GYMNASIUM_SHORT_NAMES = (
    "acrobot",
    "ant",
    "cartpole",
    "halfcheetah",
    "hopper",
    "humanoid",
    "inverted-double-pendulum",
    "inverted-pendulum",
    "mountain-car",
    "mountain-car-continuous",
    "pendulum",
    "pusher",
    "reacher",
    "swimmer",
    "walker2d",
)

ENVS = Registry(
    "env",
    {
        "dummy-v1": Entry("plugrl.config.dummy:ENVS", "plugrl.envs.dummy:DummyEnv"),
        "probe-v1": Entry("plugrl.config.probe:VARIANTS", "plugrl.envs.probe:ProbeEnv"),
        "gym-v1": Entry("plugrl.config.gymnasium:VARIANTS", "plugrl.envs.gymnasium:GymnasiumEnv"),
    }
    | {
        name: Entry(
            f"plugrl.config.gymnasium:SHORT_NAMES#{name}", "plugrl.envs.gymnasium:GymnasiumEnv"
        )
        for name in GYMNASIUM_SHORT_NAMES
    },
)

register_policy = POLICIES.register
register_policy_config = POLICIES.register_config
register_algo = ALGORITHMS.register
register_algo_config = ALGORITHMS.register_config
register_env = ENVS.register
register_env_config = ENVS.register_config


def load_plugins(modules: Iterable[str] = ()) -> None:
    """Import what registers more names: the installed entry points, then ``modules``.

    Raises:
        UsageError: a module can't be imported; names it and the reason.
    """
    for point in entry_points(group=ENTRY_POINT_GROUP):
        _import_plugin(point.value, f"entry point {point.name!r}")
    for module in modules:
        _import_plugin(module, f"--import {module}")


def _import_plugin(module: str, origin: str) -> None:
    try:
        importlib.import_module(module.partition(":")[0])
    except Exception as error:
        # Somebody else's module may fail in any way; to the person it is the import that failed.
        raise UsageError(f"can't import {origin}: {type(error).__name__}: {error}") from error
