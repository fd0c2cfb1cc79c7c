"""``plugrl list [policies|algorithms|envs]``: what can be chosen; imports no implementation."""

import inspect
from argparse import ArgumentParser
from collections.abc import Sequence

from plugrl.cli.entry import write
from plugrl.cli.parsing import load_named_plugins
from plugrl.cli.table import columns
from plugrl.registry import ALGORITHMS, ENVS, POLICIES, Registry

REGISTRIES = {"policies": POLICIES, "algorithms": ALGORITHMS, "envs": ENVS}


def run(argv: Sequence[str], prog: str) -> int:
    """List the names of one kind, or of all."""
    parser = ArgumentParser(prog=prog, description="List what can be chosen by name.")
    parser.add_argument("kind", nargs="?", choices=tuple(REGISTRIES), help="one kind only")
    parser.add_argument(
        "--import",
        action="append",
        default=[],
        metavar="MODULE",
        help="module that registers more names, imported first",
    )
    kind = parser.parse_args(list(argv)).kind
    load_named_plugins(argv)
    chosen = [REGISTRIES[kind]] if kind else list(REGISTRIES.values())
    write("\n\n".join(describe(registry) for registry in chosen))
    return 0


def describe(registry: Registry) -> str:
    """All names of a registry, their variants, and what each is."""
    rows = [("NAME", "VARIANTS", "WHAT")]
    for uid in registry.uids():
        variants = registry.variants(uid)
        rows.append((uid, ", ".join(variants), _what(variants)))
    plural = next(name for name, known in REGISTRIES.items() if known is registry)
    return f"{plural}:\n{columns(rows, indent=2)}"


def _what(variants: dict[str, object]) -> str:
    if not variants:
        return ""
    config = next(iter(variants.values()))
    env_id = getattr(config, "id", None)
    if env_id is not None:
        return str(env_id)
    return (inspect.getdoc(type(config)) or "").partition("\n")[0]
