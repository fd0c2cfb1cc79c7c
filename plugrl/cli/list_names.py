"""``plugrl list [policies|algorithms|envs]``: what can be chosen; imports no implementation."""

import inspect
from collections.abc import Sequence

from plugrl.cli.entry import write
from plugrl.cli.env_choice import GYMNASIUM
from plugrl.cli.help_text import plain
from plugrl.cli.nearest_flag import FlagParser
from plugrl.cli.parsing import load_named_plugins
from plugrl.cli.table import columns, terminal_width
from plugrl.errors import UnknownNameError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES, Registry

REGISTRIES = {"policies": POLICIES, "algorithms": ALGORITHMS, "envs": ENVS}


def run(argv: Sequence[str], prog: str) -> int:
    """List the names of one kind, or of all.

    Raises:
        UnknownNameError: there is no such kind.
    """
    parser = FlagParser(prog=prog, description="List what can be chosen by name.")
    parser.add_argument("kind", nargs="?", metavar="KIND", help=", ".join(REGISTRIES))
    parser.add_argument(
        "--import",
        action="append",
        default=[],
        metavar="MODULE",
        help="module that registers more names, imported first",
    )
    kind = parser.parse_args(list(argv)).kind
    if kind is not None and kind not in REGISTRIES:
        raise UnknownNameError("kind", kind, REGISTRIES)
    load_named_plugins(argv)
    chosen = [REGISTRIES[kind]] if kind else list(REGISTRIES.values())
    write("\n\n".join(describe(registry) for registry in chosen))
    return 0


def describe(registry: Registry) -> str:
    """All names of a registry, their variants, and what each is."""
    rows = [("NAME", "VARIANTS", "WHAT")]
    for uid in registry.uids():
        variants = registry.variants(uid)
        rows.append((uid, ", ".join(variants), _what(uid, variants)))
    plural = next(name for name, known in REGISTRIES.items() if known is registry)
    return f"{plural}:\n{columns(rows, indent=2, width=terminal_width())}"


def _what(uid: str, variants: dict[str, object]) -> str:
    if not variants:
        return ""
    config = next(iter(variants.values()))
    env_id = getattr(config, "id", None)
    if env_id is not None and uid != GYMNASIUM:
        return str(env_id)
    return plain((inspect.getdoc(type(config)) or "").partition("\n")[0])
