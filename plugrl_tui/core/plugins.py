"""Plug-ins in the app's registries: stand-ins for their configs, read in another process.

The app never imports a plug-in, which may import torch. Its configs' own checks are not known here:
a value out of its range is refused by the run's start, which the app shows.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, make_dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

from plugrl.config.base import AlgorithmConfig, EnvConfig, EnvSizes, PolicyConfig
from plugrl.registry import ALGORITHMS, ENTRY_POINT_GROUP, ENVS, POLICIES, Registry
from plugrl_tui.core.fields import HELP_ATTRIBUTE, FieldSpec, Kind

TIMEOUT_S = 60.0
"""How long the plug-ins' imports may take."""
PENDING = "is being imported"
_FINE = ""
_REGISTRIES: Mapping[str, Registry] = {"policy": POLICIES, "algorithm": ALGORITHMS, "env": ENVS}
_BASES: Mapping[str, type] = {
    "policy": PolicyConfig,
    "algorithm": AlgorithmConfig,
    "env": EnvConfig,
}
_TYPES: Mapping[Kind, Any] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.FLOAT: float,
    Kind.TEXT: str,
    Kind.PATH: Path,
    Kind.NUMBERS: tuple[int, ...],
    Kind.JSON: dict[str, Any],
}
_outcomes: dict[tuple[str, ...], str] = {}
"""By the modules: what is wrong, or ``_FINE``."""
_origins: dict[tuple[str, str], str] = {}
"""The module that registered a uid of a kind, where ``--import`` has to name it."""


def refusal(modules: Sequence[str]) -> str | None:
    """Why these plug-ins and the installed ones can't be used now; None where they can."""
    # Installed ones alone are waited for by nobody: most often there are none.
    return _outcomes.get(tuple(modules), PENDING if modules else _FINE) or None


def is_pending(modules: Sequence[str]) -> bool:
    """Whether ``load`` has still to be called; also without modules, as plug-ins are installed."""
    return tuple(modules) not in _outcomes


def forget(modules: Sequence[str]) -> None:
    """Have them read again by the next ``load``."""
    _outcomes.pop(tuple(modules), None)


def needed(kind: str, uid: str) -> str | None:
    """The module that ``--import`` has to name for a uid; None for what is there without."""
    return _origins.get((kind, uid))


async def load(modules: Sequence[str]) -> None:
    """Register what the installed plug-ins and these modules register; ``refusal`` tells the rest.

    What goes wrong is kept, so that nothing is raised.
    """
    key = tuple(modules)
    if not key and not await asyncio.to_thread(entry_points, group=ENTRY_POINT_GROUP):
        _outcomes[key] = _FINE
        return
    what = ", ".join(key) or "the installed plug-ins"
    try:
        answer = json.loads(await _read(key))
        for variant in answer.get("variants", ()):
            _register(variant)
        _outcomes[key] = str(answer.get("error", _FINE))
    except TimeoutError:
        _outcomes[key] = f"{what} took more than {TIMEOUT_S:.0f} s to import"
    except (OSError, ValueError, KeyError, TypeError) as error:
        _outcomes[key] = f"can't read what {what} registers: {error}"


async def _read(modules: Sequence[str]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "plugrl_tui.core.plugin_reader", *modules),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            answer, said = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if not answer:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise OSError(f"its process ended with {process.returncode}: {last or 'it said nothing'}")
    return answer


def _register(told: Mapping[str, Any]) -> None:
    kind, uid = told["kind"], told["uid"]
    config = stand_in(kind, told)
    _REGISTRIES[kind].register_config(uid, told["variant"])(lambda: config)
    if told["module"]:
        _origins.setdefault((kind, uid), told["module"])


def stand_in(kind: str, told: Mapping[str, Any]) -> Any:
    """A config with the fields, the values and the abilities that ``plugin_reader`` tells of."""
    specs = [_spec(item) for item in told["fields"]]
    sizes = None if told["sizes"] is None else _sizes(told["sizes"])
    names = ("capabilities", "requires")
    body: dict[str, Any] = {name: frozenset(told[name]) for name in names}
    config = _made(told["name"], _BASES[kind], specs, body)
    if kind == "env":
        # Other values may mean other sizes, which only the plug-in knows.
        type(config).sizes = lambda self: sizes if self == config else None
    return config


def _made(name: str, base: type, specs: Sequence[FieldSpec], body: dict[str, Any]) -> Any:
    """An instance of a new dataclass; fields within fields are dataclasses in their turn."""
    parts: dict[str, list[FieldSpec]] = {}
    for spec in specs:
        parts.setdefault(spec.path[0], []).append(spec)
    fields: list[tuple[str, Any, Any]] = []
    for part, below in parts.items():
        if len(below[0].path) == 1:
            hint, value = _hint(below[0]), below[0].default
        else:
            inner = [replace(spec, path=spec.path[1:]) for spec in below]
            value = _made(f"{name}_{part}", object, inner, {})
            hint = type(value)
        fields.append((part, hint, field(default_factory=_giver(value))))
    helps = {spec.path[0]: spec.help for spec in specs if len(spec.path) == 1}
    namespace = {**body, HELP_ATTRIBUTE: helps}
    cls = make_dataclass(
        name, fields, bases=(base,), namespace=namespace, frozen=True, kw_only=True
    )
    return cls()


def _giver(value: Any) -> Callable[[], Any]:
    return lambda: value


def _hint(spec: FieldSpec) -> Any:
    plain: Any = Literal[spec.choices] if spec.kind is Kind.CHOICE else _TYPES[spec.kind]
    return plain | None if spec.optional else plain


def _spec(told: Mapping[str, Any]) -> FieldSpec:
    bare = FieldSpec(
        path=tuple(told["path"]),
        kind=Kind[told["kind"]],
        default=None,
        help=told["help"],
        choices=tuple(told["choices"]),
        optional=told["optional"],
    )
    return replace(bare, default=bare.parse(told["default"]))


def _sizes(told: Mapping[str, Any]) -> EnvSizes:
    return EnvSizes(**{**told, "num_choices": tuple(told["num_choices"])})
