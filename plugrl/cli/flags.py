"""The way back: from a config to the flags that make it of its default."""

import json
from dataclasses import fields, is_dataclass
from typing import Any


def to_flags(config: Any, default: Any, *, prefix: str = "") -> list[str]:
    """The arguments by which ``config`` differs from ``default``.

    Args:
        config: a frozen dataclass.
        default: another of the same class, which the flags are to be laid upon.
        prefix: what the flags start with, such as ``policy.``.
    """
    flags: list[str] = []
    for item in fields(config):
        value, usual = getattr(config, item.name), getattr(default, item.name)
        if value != usual:
            flags += _flag(prefix, item.name.replace("_", "-"), value, usual)
    return flags


def _flag(prefix: str, name: str, value: Any, usual: Any) -> list[str]:
    if is_dataclass(value):
        return to_flags(value, usual, prefix=f"{prefix}{name}.")
    if isinstance(value, bool):
        return [f"--{prefix}{'' if value else 'no-'}{name}"]
    if isinstance(value, tuple):
        return [f"--{prefix}{name}", *map(str, value)]
    if isinstance(value, dict):
        return [f"--{prefix}{name}", json.dumps(value)]
    return [f"--{prefix}{name}={value}"]
