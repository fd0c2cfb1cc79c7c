"""``plugrl checkpoints RUN``: the steps of a run, of all below a folder, or a single one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.cli.table import columns, terminal_width
from plugrl.errors import CheckpointNotFoundError
from plugrl.runs.catalog import find_run
from plugrl.runs.home import typed_path
from plugrl.training.step_folder import (
    STATE_FILE,
    StepSummary,
    is_step_folder,
    step_dirs,
    summaries,
    summary,
)


def run(argv: Sequence[str], prog: str) -> int:
    """Write one table a run.

    Raises:
        UnknownNameError: there is neither a folder nor a run of that name.
        UsageError: there are several runs of that name.
        CheckpointNotFoundError: there is no checkpoint in the folder or below.
    """
    parser = FlagParser(
        prog=prog, description="Show the checkpoints of a run, or of all below a folder."
    )
    parser.add_argument(
        "run", metavar="RUN", help="a run's name or folder, one above it, or a step's"
    )
    write("\n\n".join(_tables(parser.parse_args(list(argv)).run)))
    return 0


def _tables(name: str) -> list[str]:
    folder = typed_path(name)
    if not folder.is_dir():
        folder = find_run(name).path
    # Resolved, because the step is read off the name, which "." has not.
    if is_step_folder(step_dir := folder.resolve()):
        return [_table(folder, [summary(step_dir)])]
    experiments = [folder] if step_dirs(folder) else _experiments_below(folder)
    if not experiments:
        raise CheckpointNotFoundError(f"no checkpoint in {folder} or below")
    return [_table(experiment, summaries(experiment)) for experiment in experiments]


def _experiments_below(folder: Path) -> list[Path]:
    return sorted({state.parent.parent for state in folder.rglob(f"[0-9]*/{STATE_FILE}")})


def _table(folder: Path, steps: Iterable[StepSummary]) -> str:
    rows = [("STEP", "RETURN", "WHEN", "SIZE", "VALID")]
    rows += [_row(step) for step in steps]
    return f"{folder}\n{columns(rows, indent=2, width=terminal_width())}"


def _row(step: StepSummary) -> tuple[str, str, str, str, str]:
    episode_return = step.episode_return_mean
    return (
        f"{step.step:,}",
        "-" if episode_return is None else f"{episode_return:.1f}",
        step.saved_at or "-",
        f"{step.num_bytes / 1024:,.1f} KiB",
        "yes" if step.damage is None else f"no: {step.damage}",
    )
