"""``plugrl eval STEP_DIR --env NAME``: measure a checkpoint over whole episodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugrl.cli import launch
from plugrl.cli.entry import write
from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import load_named_plugins
from plugrl.errors import UsageError
from plugrl.registry import POLICIES
from plugrl.training.step_folder import read_step, require_step_folder

USAGE = """usage: {prog} STEP_DIR --env NAME [OPTIONS]

Runs exactly --algo.num-episodes episodes (10 by default) of the policy in STEP_DIR and writes
their mean return. Takes every option of 'plugrl launch'."""


def run(argv: Sequence[str], prog: str) -> int:
    """Launch an evaluation; returns its exit code.

    Raises:
        CheckpointNotFoundError: STEP_DIR is no step folder.
        CheckpointDamagedError: it can't be trusted.
        UnknownNameError: its policy is not registered; ``--import`` may name who does that.
    """
    arguments = list(argv)
    if arguments in ([], ["--help"], ["-h"]):
        write(USAGE.format(prog=prog))
        return 0
    if arguments[0].startswith("-"):
        raise UsageError(f"expected STEP_DIR first, got {arguments[0]}; see '{prog} --help'")
    step_dir = Path(arguments.pop(0))
    require_step_folder(step_dir)
    load_named_plugins(arguments)
    origin: dict[str, Any] = read_step(step_dir).state["origin"]
    names = [origin["policy"], origin["policy_variant"], "eval", "default"]
    flags = [*_policy_flags(origin), f"--algo.policy-checkpoint-path={step_dir}", *arguments]
    return launch.run([*names, *flags], prog)


def _policy_flags(origin: dict[str, Any]) -> list[str]:
    default = POLICIES.variant(origin["policy"], origin["policy_variant"])
    saved = {n: tuple(v) if isinstance(v, list) else v for n, v in origin["policy_config"].items()}
    return to_flags(type(default)(**saved), default, prefix="policy.")
