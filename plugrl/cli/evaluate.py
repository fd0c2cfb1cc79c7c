"""``plugrl eval STEP_DIR --env NAME``: measure a checkpoint over whole episodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugrl.cli.flags import to_flags
from plugrl.cli.launch import AddFlags, make_plan, opening_flags, supervise
from plugrl.cli.launch_plan import LaunchPlan
from plugrl.cli.parsing import load_named_plugins, wants_help
from plugrl.cli.run_server import add_server_flags
from plugrl.errors import CheckpointMismatchError, UsageError
from plugrl.registry import POLICIES
from plugrl.training.step_folder import read_step, require_step_folder

WHAT = (
    "Run exactly --algo.num-episodes episodes of the policy in STEP_DIR and report their returns; "
    "--policy.* and --env.* are as in training."
)
ALGORITHM = ("eval", "default")
ANY_POLICY = ("gaussian-policy", "default")
"""Whose options stand for those of any policy, before there is a checkpoint."""


def run(argv: Sequence[str], prog: str) -> int:
    """Launch an evaluation; returns its exit code.

    Raises:
        CheckpointError: see ``read_plan``.
    """
    return supervise(read_plan(argv, prog))


def read_plan(
    argv: Sequence[str], prog: str, add_flags: AddFlags = lambda flags: flags
) -> LaunchPlan:
    """The evaluation that the arguments ask for.

    Args:
        argv: the command's arguments.
        prog: the program's name.
        add_flags: adds more flags to those of an evaluation.

    Raises:
        SystemExit: with 0, after they asked for help.
        UsageError: STEP_DIR does not come first, or the flags can't work.
        CheckpointNotFoundError: STEP_DIR is no step folder.
        CheckpointDamagedError: it can't be trusted.
        CheckpointMismatchError: its policy has other fields by now.
        UnknownNameError: its policy is not registered; ``--import`` may name who does that.
    """
    arguments = list(argv)
    opening = add_flags(opening_flags(f"{prog} STEP_DIR --env NAME", WHAT))
    if not arguments or (arguments[0].startswith("-") and wants_help(arguments)):
        add_server_flags(opening, (*ANY_POLICY, *ALGORITHM), prog, None).parse(["--help"])
    name, flags = take_step_dir(arguments, prog)
    step_dir = Path(name)
    require_step_folder(step_dir)
    load_named_plugins(flags)
    origin: dict[str, Any] = read_step(step_dir).state["origin"]
    names = [origin["policy"], origin["policy_variant"], *ALGORITHM]
    flags = [*_policy_flags(origin, step_dir), f"--algo.policy-checkpoint-path={step_dir}", *flags]
    return make_plan(names, flags, opening, [*prog.split(), *argv])


def take_step_dir(argv: Sequence[str], prog: str) -> tuple[str, list[str]]:
    """Split STEP_DIR from the flags that follow it.

    Raises:
        UsageError: it does not come first.
    """
    if not argv or argv[0].startswith("-"):
        got = argv[0] if argv else "nothing"
        raise UsageError(f"expected STEP_DIR first, got {got}; see '{prog} --help'")
    step_dir, *flags = argv
    return step_dir, flags


def _policy_flags(origin: dict[str, Any], step_dir: Path) -> list[str]:
    default = POLICIES.variant(origin["policy"], origin["policy_variant"])
    saved = {n: tuple(v) if isinstance(v, list) else v for n, v in origin["policy_config"].items()}
    try:
        return to_flags(type(default)(**saved), default, prefix="policy.")
    except (TypeError, ValueError) as error:
        # The hashes are right: the policy has other fields by now, or other rules for them.
        raise CheckpointMismatchError(
            f"expected a {type(default).__name__}, got {origin['policy_config']} ({error}), "
            f"at {step_dir}; it is of another version of {origin['policy']}"
        ) from error
