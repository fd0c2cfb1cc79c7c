"""From arguments to configs: positional names first, then flags that tyro makes of dataclasses."""

import contextlib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, make_dataclass
from typing import Annotated, Any, get_args

import tyro

from plugrl.cli.help_text import plain
from plugrl.cli.nearest_flag import require_known
from plugrl.cli.values import REGISTRY, RefusedValueError
from plugrl.errors import ConfigError, UsageError
from plugrl.registry import Registry, load_plugins

# What opens each command's flags, beside the groups of its configs.
ENV_FLAG = Annotated[
    str | None,
    tyro.conf.arg(
        name="env",
        help="Env whose sizes the policy takes: NAME or NAME:VARIANT, such as hopper, any "
        "Gymnasium id, or module:EnvClass.",
    ),
]
REQUIRED_ENV_FLAG = Annotated[
    str | None,
    tyro.conf.arg(
        name="env",
        metavar="NAME",
        help="Env to run: NAME or NAME:VARIANT, such as hopper, any Gymnasium id, or "
        "module:EnvClass.",
        help_behavior_hint="(required)",
    ),
]
IMPORT_FLAG = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="import", help="Module that registers more names, imported first."),
]


class Flags:
    """The flags of one command: groups of a config's fields, and single ones."""

    def __init__(self, prog: str, description: str) -> None:
        """Begin with no flags; ``prog`` and ``description`` open the help text."""
        self._prog = prog
        self._description = description
        self._fields: list[tuple[str, Any, Any]] = []
        self._prefixes: dict[str, str] = {}
        self._known: list[str] = []

    def add(self, name: str, kind: Any, default: Any) -> "Flags":
        """Add one flag, under the name that ``kind`` is annotated with, if it is with one."""
        self._fields.append((name, kind, field(default=default)))
        renamed = [n for note in get_args(kind)[1:] if (n := getattr(note, "name", None))]
        self._know("", (renamed or [name])[0], is_switch=isinstance(default, bool))
        return self

    def add_config(self, name: str, config: Any, *, prefix: str | None = None) -> "Flags":
        """Add one flag for each field of ``config``, whose values are the defaults.

        Args:
            name: the attribute of the result that holds the parsed config.
            config: an instance of a frozen dataclass.
            prefix: what the flags start with; the name if None, nothing if empty.
        """
        prefix = name if prefix is None else prefix
        about = plain(type(config).__doc__ or "")
        kind: Any = Annotated[type(config), tyro.conf.arg(name=prefix, help=about)]
        self._fields.append((name, kind, field(default=config)))
        self._name_flags(config, f"{prefix}." if prefix else "")
        return self

    def parse(self, argv: Sequence[str]) -> Any:
        """Parse; returns an object with one attribute for each name added.

        Raises:
            SystemExit: with 0 after ``--help``, with 2 after a message on stderr.
            UsageError: a flag is not known, or its value out of its range; names the flag.
        """
        if not wants_help(argv):
            require_known(argv, self._known, self._prog)
        arguments = make_dataclass("Arguments", self._fields, frozen=True, kw_only=True)
        with flags_named(self._prefixes):
            try:
                return tyro.cli(
                    arguments,
                    prog=self._prog,
                    description=self._description,
                    args=list(argv),
                    registry=REGISTRY,
                )
            except RefusedValueError as refused:
                raise refused.complaint from None

    def _name_flags(self, config: Any, prefix: str) -> None:
        self._prefixes[type(config).__name__] = prefix
        for item in fields(config):
            value = getattr(config, item.name)
            if is_dataclass(value):
                self._name_flags(value, f"{prefix}{item.name.replace('_', '-')}.")
            else:
                self._know(prefix, item.name, is_switch=isinstance(value, bool))

    def _know(self, prefix: str, name: str, *, is_switch: bool) -> None:
        flag = name.replace("_", "-")
        self._known += [f"{prefix}{flag}", *([f"{prefix}no-{flag}"] if is_switch else [])]


@contextlib.contextmanager
def flags_named(prefixes: Mapping[str, str]) -> Iterator[None]:
    """Let a config's complaint name the flag in place of the field.

    Args:
        prefixes: from a config's class to what its flags start with.

    Raises:
        UsageError: a config of these classes complained.
    """
    try:
        yield
    except ConfigError as error:
        if error.config not in prefixes:
            raise
        flag = f"--{prefixes[error.config]}{error.field.replace('_', '-')}"
        where = "" if flag in error.reason else f", at {flag}"
        raise UsageError(f"{error.reason}{where}") from error


def take_names(
    argv: Sequence[str], expected: Sequence[str], first: Registry
) -> tuple[list[str], list[str]]:
    """Split the positional names from the flags.

    The names stand together, before the flags or after them; in the second case they begin with
    a uid of ``first``.

    Args:
        argv: the arguments.
        expected: what the names mean, such as POLICY.
        first: where the first name is registered.

    Returns:
        The names, at most as many as ``expected``, and the flags.
    """
    arguments = list(argv)
    start = 0
    if arguments and arguments[0].startswith("-"):
        uids = set(first.uids())
        start = next((i for i, a in enumerate(arguments) if a in uids), len(arguments))
    end = start
    while end < min(len(arguments), start + len(expected)) and not arguments[end].startswith("-"):
        end += 1
    return arguments[start:end], arguments[:start] + arguments[end:]


def wants_help(argv: Sequence[str]) -> bool:
    """Whether the arguments ask for help."""
    return "--help" in argv or "-h" in argv


def load_named_plugins(argv: Sequence[str]) -> None:
    """Import installed plug-ins and those that ``--import`` names, before names are looked up.

    Raises:
        UsageError: one can't be imported.
    """
    load_plugins(peek(argv, "--import"))


def peek(argv: Sequence[str], flag: str) -> list[str]:
    """The values that ``flag`` is given, without parsing anything else."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(flag, action="append", dest="values", nargs="?", default=[])
    values = parser.parse_known_args(list(argv))[0].values
    return [value for value in values if value is not None]


def split_env_name(name: str) -> tuple[str, str]:
    """The uid and the variant that ``NAME`` or ``NAME:VARIANT`` means."""
    uid, _, variant = name.partition(":")
    return uid, variant or "default"


def require_names(names: Sequence[str], expected: Sequence[str], hint: str) -> None:
    """Refuse too few positional names.

    Raises:
        UsageError: says what was expected, what came, and ``hint``.
    """
    if len(names) < len(expected):
        got = " ".join(names) or "nothing"
        raise UsageError(f"expected {' '.join(expected)}, got {got}; {hint}")
