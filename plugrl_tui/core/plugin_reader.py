"""What plug-ins register, as JSON: run in a process of its own, as plug-ins may import torch.

``python -m plugrl_tui.core.plugin_reader MODULE...`` writes one object to standard output:
``{"variants": [...]}``, or ``{"error": "..."}``. What a plug-in prints goes to standard error.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES, Registry, load_plugins
from plugrl_tui.core.fields import FieldSpec, specs

KINDS = {"policy": POLICIES, "algorithm": ALGORITHMS, "env": ENVS}


def main() -> None:
    """Import the modules that the arguments name, and tell what they register."""
    told = os.dup(1)
    os.dup2(2, 1)
    try:
        answer: dict[str, Any] = {"variants": list(read(sys.argv[1:]))}
    except UsageError as error:
        answer = {"error": str(error)}
    with os.fdopen(told, "w", encoding="utf-8") as stream:
        json.dump(answer, stream)


def read(modules: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every variant that the installed plug-ins and then ``modules`` register.

    Raises:
        UsageError: one can't be imported, or registers what is no dataclass.
    """
    known = _registered()
    # The first round is that of the entry points, which need no flag.
    for module in ("", *modules):
        load_plugins([module] if module else [])
        now = _registered()
        for (kind, uid, variant), config in now.items():
            if known.get((kind, uid, variant)) is not config:
                yield {
                    "kind": kind,
                    "uid": uid,
                    "variant": variant,
                    "module": module,
                    **_described(config, f"{kind} {uid!r}"),
                }
        known = now


def _registered() -> dict[tuple[str, str, str], Any]:
    return {
        (kind, uid, variant): config
        for kind, registry in KINDS.items()
        for uid, variant, config in _variants(registry)
    }


def _variants(registry: Registry) -> Iterator[tuple[str, str, Any]]:
    for uid in registry.uids():
        for variant, config in registry.variants(uid).items():
            yield uid, variant, config


def _described(config: Any, what: str) -> dict[str, Any]:
    try:
        found = specs(config)
    except TypeError as error:
        got = type(config).__name__
        raise UsageError(f"expected a dataclass as the config of {what}, got {got}") from error
    sizes = config.sizes() if hasattr(config, "sizes") else None
    return {
        "name": type(config).__name__,
        "fields": list(map(_field, found)),
        "capabilities": sorted(getattr(config, "capabilities", ())),
        "requires": sorted(getattr(config, "requires", ())),
        "sizes": None if sizes is None else asdict(sizes),
    }


def _field(spec: FieldSpec) -> dict[str, Any]:
    return {
        "path": spec.path,
        "kind": spec.kind.name,
        "default": spec.show(spec.default),
        "help": spec.help,
        "choices": spec.choices,
        "optional": spec.optional,
    }


if __name__ == "__main__":
    main()
