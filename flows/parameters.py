"""A launch as the parameters of a flow, and back: what people see and fill in in Prefect's UI."""

import json
from collections.abc import Sequence
from typing import TypeAlias, TypedDict

from plugrl.cli.parsing import take_names
from plugrl.cli.run_server import NAMES
from plugrl.registry import POLICIES
from plugrl.runs.provenance import SECRET
from plugrl.training.run_folder import fresh_name

Value: TypeAlias = str | int | float | bool | list[str]
"""Of an option: True is a flag without a value, a list one with several."""

SWITCHES = ("--detach", "--no-detach", "--prefect", "--no-prefect")
"""Flags that say how the command runs, and nothing of the run."""


class TrainParameters(TypedDict, total=False):
    """The parameters of the flow ``train``."""

    policy: str
    policy_variant: str
    algorithm: str
    algorithm_variant: str
    env: str | None
    exp_name: str | None
    resume: bool
    imports: list[str]
    options: dict[str, Value]


def to_parameters(argv: Sequence[str]) -> TrainParameters:
    """The parameters that mean the same as a command line; a key is left out."""
    names, flags = take_names(argv, NAMES, POLICIES)
    given = dict(
        zip(("policy", "policy_variant", "algorithm", "algorithm_variant"), names, strict=False)
    )
    options, imports = _options([flag for flag in flags if flag not in SWITCHES])
    options.pop(SECRET.lstrip("-"), None)
    env, exp_name = options.pop("env", None), options.pop("exp-name", None)
    return TrainParameters(
        **given,  # type: ignore[typeddict-item]
        env=None if env is None else str(env),
        exp_name=fresh_name() if exp_name is None else str(exp_name),
        resume=options.pop("resume", False) is True,
        imports=imports,
        options=options,
    )


def to_argv(parameters: TrainParameters) -> list[str]:
    """The command line that the parameters mean."""
    names = ("policy", "policy_variant", "algorithm", "algorithm_variant")
    argv = [str(parameters[name]) for name in names if name in parameters]  # type: ignore[literal-required]
    for name in ("env", "exp_name"):
        if value := parameters.get(name):
            argv += [f"--{name.replace('_', '-')}", str(value)]
    for name, option in parameters.get("options", {}).items():
        argv += _flag(name, option)
    argv += [f"--import={module}" for module in parameters.get("imports", [])]
    return [*argv, *(["--resume"] if parameters.get("resume") else [])]


def _options(flags: Sequence[str]) -> tuple[dict[str, Value], list[str]]:
    options: dict[str, Value] = {}
    imports: list[str] = []
    at = 0
    while at < len(flags):
        name, is_joined, joined = flags[at].removeprefix("--").partition("=")
        end = at + 1
        while end < len(flags) and not flags[end].startswith("--"):
            end += 1
        values = [*([joined] if is_joined else []), *flags[at + 1 : end]]
        if name == "import":
            imports += values
        else:
            options[name] = _value(values)
        at = end
    return options, imports


def _value(values: Sequence[str]) -> Value:
    if not values:
        return True
    return _scalar(values[0]) if len(values) == 1 else list(values)


def _scalar(text: str) -> Value:
    """A number where it would be written the same again: that reads better."""
    try:
        number = json.loads(text)
    except ValueError:
        return text
    same = isinstance(number, int | float) and not isinstance(number, bool) and str(number) == text
    return number if same else text


def _flag(name: str, value: Value) -> list[str]:
    if value is True:
        return [f"--{name}"]
    if value is False:
        prefix, dot, last = name.rpartition(".")
        return [f"--{prefix}{dot}no-{last}"]
    if isinstance(value, list):
        return [f"--{name}", *value]
    return [f"--{name}={value}"]
