"""A launch as the parameters of a flow, and back: what people see and fill in in Prefect's UI."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from plugrl.cli.evaluate import take_step_dir
from plugrl.cli.parsing import peek, require_names, take_names
from plugrl.cli.run_server import NAMES
from plugrl.config.server import API_KEY_VARIABLE
from plugrl.errors import UsageError
from plugrl.registry import POLICIES
from plugrl.runs.provenance import SECRET
from plugrl.training.run_folder import fresh_name

Value: TypeAlias = str | int | float | bool | list[str]
"""Of an option: True is a flag without a value, a list one with several."""

PREFECT_SWITCHES = ("--prefect", "--no-prefect")
SWITCHES = (*PREFECT_SWITCHES, "--detach", "--no-detach")
"""Flags of ``train`` that say how the command runs, and nothing of the run."""


@dataclass(frozen=True, kw_only=True)
class TrainParameters:
    """The parameters of the flow ``train``, which explains them."""

    policy: str
    policy_variant: str
    algorithm: str
    algorithm_variant: str
    env: str | None
    exp_name: str | None
    resume: bool
    imports: list[str]
    options: dict[str, Value]

    @classmethod
    def of(cls, argv: Sequence[str]) -> "TrainParameters":
        """The parameters that mean the same as a command line; a key is left out.

        Raises:
            UsageError: names are missing, or something is neither a name nor a flag.
        """
        names, flags = take_names(argv, NAMES, POLICIES)
        require_names(names, NAMES, "see 'plugrl-flow train --help' for what there is")
        policy, policy_variant, algorithm, algorithm_variant = names
        options, imports = _to_options([flag for flag in flags if flag not in SWITCHES])
        resume = options.get("resume") is True
        if resume:
            del options["resume"]
        exp_name = _take_text(options, "exp-name")
        if exp_name is None and not resume and "exp-name" not in options:
            # A run to go on with has a name already; that it is missing is the plan's to say.
            exp_name = fresh_name()
        return cls(
            policy=policy,
            policy_variant=policy_variant,
            algorithm=algorithm,
            algorithm_variant=algorithm_variant,
            env=_take_text(options, "env"),
            exp_name=exp_name,
            resume=resume,
            imports=imports,
            options=options,
        )

    def argv(self) -> list[str]:
        """The command line that the parameters mean."""
        argv = [self.policy, self.policy_variant, self.algorithm, self.algorithm_variant]
        for name, value in (("env", self.env), ("exp-name", self.exp_name)):
            argv += [] if value is None else [f"--{name}", value]
        for name, option in self.options.items():
            argv += _to_flag(name, option)
        argv += [f"--import={module}" for module in self.imports]
        return [*argv, *(["--resume"] if self.resume else [])]


@dataclass(frozen=True, kw_only=True)
class EvaluationParameters:
    """The parameters of the flow ``evaluate``, which explains them."""

    step_dir: str
    env: str | None
    imports: list[str]
    options: dict[str, Value]

    @classmethod
    def of(cls, argv: Sequence[str], prog: str) -> "EvaluationParameters":
        """The parameters that mean the same as a command line of ``prog``; a key is left out.

        Raises:
            UsageError: STEP_DIR is missing, or something else is no flag.
        """
        step_dir, flags = take_step_dir(argv, prog)
        options, imports = _to_options([flag for flag in flags if flag not in PREFECT_SWITCHES])
        return cls(
            step_dir=step_dir,
            env=_take_text(options, "env"),
            imports=imports,
            options=options,
        )

    def argv(self) -> list[str]:
        """The command line that the parameters mean."""
        argv = [self.step_dir, *([] if self.env is None else ["--env", self.env])]
        for name, option in self.options.items():
            argv += _to_flag(name, option)
        return [*argv, *(f"--import={module}" for module in self.imports)]


def pass_on_key(argv: Sequence[str]) -> None:
    """Have children inherit the key of ``--api-key``: parameters are sent, kept and shown."""
    if keys := peek(argv, SECRET):
        os.environ[API_KEY_VARIABLE] = keys[-1]


def _to_options(flags: Sequence[str]) -> tuple[dict[str, Value], list[str]]:
    """Flags by their names without dashes, and the modules of ``--import``, which may repeat."""
    options: dict[str, Value] = {}
    imports: list[str] = []
    at = 0
    while at < len(flags):
        if not flags[at].startswith("--"):
            raise UsageError(f"expected a flag, got {flags[at]!r}")
        name, is_joined, joined = flags[at].removeprefix("--").partition("=")
        end = at + 1
        while end < len(flags) and not flags[end].startswith("--"):
            end += 1
        values = [*([joined] if is_joined else []), *flags[at + 1 : end]]
        if name == "import":
            imports += values
        elif name != SECRET.removeprefix("--"):
            options[name] = _value(values)
        at = end
    return options, imports


def _take_text(options: dict[str, Value], name: str) -> str | None:
    """An option that has one value, taken out; any other stays, for the parser to refuse."""
    if isinstance(options.get(name, True), bool | list):
        return None
    return str(options.pop(name))


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


def _to_flag(name: str, value: Value) -> list[str]:
    """The arguments that an option means."""
    if value is True:
        return [f"--{name}"]
    if value is False:
        prefix, dot, last = name.rpartition(".")
        return [f"--{prefix}{dot}no-{last}"]
    if isinstance(value, list):
        return [f"--{name}", *value]
    return [f"--{name}={value}"]
