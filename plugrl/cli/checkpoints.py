"""``plugrl checkpoints DIR``: what is in an experiment's folder, or in all below one."""

from collections.abc import Sequence
from pathlib import Path

from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.cli.table import columns, terminal_width
from plugrl.errors import CheckpointNotFoundError
from plugrl.training.step_folder import STATE_FILE, StepSummary, step_dirs, summaries


def run(argv: Sequence[str], prog: str) -> int:
    """Write one table an experiment.

    Raises:
        CheckpointNotFoundError: there is no checkpoint in DIR or below.
    """
    parser = FlagParser(
        prog=prog, description="Show the checkpoints of an experiment, or of all below a folder."
    )
    parser.add_argument("dir", type=Path, metavar="DIR", help="an experiment, or a folder above it")
    folder: Path = parser.parse_args(list(argv)).dir
    experiments = [folder] if step_dirs(folder) else _experiments_below(folder)
    if not experiments:
        raise CheckpointNotFoundError(f"no checkpoint in {folder} or below")
    write("\n\n".join(_table(experiment) for experiment in experiments))
    return 0


def _experiments_below(folder: Path) -> list[Path]:
    return sorted({state.parent.parent for state in folder.rglob(f"[0-9]*/{STATE_FILE}")})


def _table(experiment: Path) -> str:
    rows = [("STEP", "RETURN", "WHEN", "SIZE", "VALID")]
    rows += [_row(summary) for summary in summaries(experiment)]
    return f"{experiment}\n{columns(rows, indent=2, width=terminal_width())}"


def _row(summary: StepSummary) -> tuple[str, str, str, str, str]:
    episode_return = summary.episode_return_mean
    return (
        f"{summary.step:,}",
        "-" if episode_return is None else f"{episode_return:.1f}",
        summary.saved_at or "-",
        f"{summary.num_bytes / 1024:,.1f} KiB",
        "yes" if summary.damage is None else f"no: {summary.damage}",
    )
