"""``plugrl-flow list``: all runs of this user, the newest first."""

import json
from collections.abc import Sequence
from typing import Any

from flows.run_words import reason_of, state_of, steps_of
from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.cli.table import columns, terminal_width
from plugrl.runs import catalog
from plugrl.runs.catalog import FoundRun, Runs
from plugrl.runs.files import plain
from plugrl.runs.moments import moment

DEFAULT_LIMIT = 20
SHOWN_SKIPPED = 5


def run(argv: Sequence[str], prog: str) -> int:
    """Write the runs, and which could not be read."""
    parser = FlagParser(prog=prog, description="List the runs of this user, the newest first.")
    parser.add_argument("--all", action="store_true", help=f"not the newest {DEFAULT_LIMIT} alone")
    parser.add_argument("--json", action="store_true", help="write JSON, with all there is to know")
    parser.add_argument(
        "--forget-gone", action="store_true", help="forget those whose folder is gone for good"
    )
    arguments = parser.parse_args(list(argv))
    if arguments.forget_gone:
        _forget_gone()
    runs = catalog.find_runs()
    shown = runs.found if arguments.all else runs.found[:DEFAULT_LIMIT]
    if arguments.json:
        write(json.dumps(_data(shown, runs), indent=1))
    else:
        write(_text(shown, runs))
    return 0


def _forget_gone() -> None:
    for skipped in catalog.find_runs().skipped:
        if skipped.gone:
            catalog.forget(skipped.path)


def as_data(run: FoundRun) -> dict[str, Any]:
    """A run as JSON: its folder, the state as seen now, its record and its status."""
    data: dict[str, Any] = plain(
        {"path": run.path, "state": state_of(run), "record": run.record, "status": run.status}
    )
    return data


def _data(shown: list[FoundRun], runs: Runs) -> dict[str, Any]:
    skipped = [{"path": str(one.path), "reason": one.reason} for one in runs.skipped]
    return {"runs": [as_data(run) for run in shown], "skipped": skipped}


def _text(shown: list[FoundRun], runs: Runs) -> str:
    parts = []
    if shown:
        head = ("RUN", "STATE", "STEP", "ALGORITHM", "POLICY", "ENV", "STARTED", "WHY")
        rows = [head, *(_row(run) for run in shown)]
        parts.append(columns(rows, width=terminal_width()))
    else:
        parts.append("no runs yet; plugrl-flow train --help says how to start one")
    if hidden := len(runs.found) - len(shown):
        parts.append(f"and {hidden} older; --all shows them")
    if runs.skipped:
        reasons = [skipped.reason for skipped in runs.skipped[:SHOWN_SKIPPED]]
        if more := len(runs.skipped) - len(reasons):
            reasons.append(f"and {more} more")
        hint = "; --forget-gone forgets those" if any(one.gone for one in runs.skipped) else ""
        lines = "".join(f"\n  {reason}" for reason in reasons)
        parts.append(f"{len(runs.skipped)} left out{hint}:{lines}")
    return "\n".join(parts)


def _row(run: FoundRun) -> tuple[str, ...]:
    record = run.record
    return (
        record.exp_name,
        state_of(run),
        steps_of(run),
        f"{record.algorithm} {record.algorithm_variant}",
        record.policy,
        record.env or "-",
        moment(record.created_at),
        reason_of(run),
    )
