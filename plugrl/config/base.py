"""What every config has in common: frozen, keyword-only, checked on creation, free of torch."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from plugrl.errors import ConfigError


def require(config: object, ok: bool, name: str, expected: str) -> None:  # noqa: FBT001
    """Refuse a field's value.

    Args:
        config: the config being created.
        ok: whether the field is in its range.
        name: the field.
        expected: the range in words, such as "at least 1".

    Raises:
        ConfigError: ``ok`` is false; names the class, the field, the range and the value.
    """
    if not ok:
        raise ConfigError(
            f"expected {expected}, got {getattr(config, name)!r}",
            config=type(config).__name__,
            field=name,
        )


@dataclass(frozen=True, kw_only=True)
class PolicyConfig:
    """Base of every policy's config."""

    capabilities: ClassVar[frozenset[str]] = frozenset()
    """What the policy offers to an algorithm, such as ``log_prob`` and ``value``."""

    device: str = "cpu"
    """Where the networks live: cpu, cuda, cuda:1, ..."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmConfig:
    """Base of every algorithm's config."""

    requires: ClassVar[frozenset[str]] = frozenset()
    """The capabilities that a policy must have to be trained by this algorithm."""
    makes_checkpoints: ClassVar[bool] = True
    """Whether there is anything to save: false for an algorithm that changes nothing."""


@dataclass(frozen=True, kw_only=True)
class EnvSizes:
    """What a policy must know of an env before the first client has come."""

    obs_dim: int
    """Width of all states concatenated in the order of their names."""
    action_dim: int
    """Width of a continuous action; 0 when actions are discrete."""
    num_choices: tuple[int, ...] = ()
    """Choices of each discrete action component; empty when actions are continuous."""


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """Base of every env's config."""

    def sizes(self) -> EnvSizes | None:
        """The env's sizes, or None where only the env itself can tell."""
        return None


def as_dict(config: Any) -> dict[str, Any]:
    """A config's fields as plain data (tuples stay tuples)."""
    return {f.name: getattr(config, f.name) for f in fields(config)}
