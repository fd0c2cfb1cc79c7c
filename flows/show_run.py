"""``plugrl-flow show RUN``: what a run is, how it is, its attempts, and what Prefect remembers."""

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from flows.list_runs import as_data
from flows.run_words import reason_of, state_of, steps_of
from plugrl.cli.entry import write
from plugrl.cli.nearest_flag import FlagParser
from plugrl.cli.table import columns, terminal_width
from plugrl.errors import HistoryUnavailableError
from plugrl.runs import catalog, prefect_api, records
from plugrl.runs.catalog import FoundRun
from plugrl.runs.files import plain
from plugrl.runs.moments import duration, moment
from plugrl.runs.prefect_history import FlowRunHistory, flow_run_ids, read_history
from plugrl.runs.records import Event

UNREMARKABLE = {"learn", "worker_joined", "saved"}
"""Events that happen again and again; the last of them says enough."""
HIDDEN = {"flow_run_id"}
"""Details that the history tells better."""
DEFAULT_EVENTS = 15


def run(argv: Sequence[str], prog: str) -> int:
    """Write all that is known of one run.

    Raises:
        UnknownNameError: there is no such run.
        UsageError: its name is not enough to tell it.
    """
    parser = FlagParser(
        prog=prog, description="Show one run: how it is, its attempts, its history in Prefect."
    )
    parser.add_argument("run", metavar="RUN", help="its name, ALGO/POLICY/NAME, or its folder")
    parser.add_argument("--json", action="store_true", help="write JSON, with all there is to know")
    arguments = parser.parse_args(list(argv))
    found = catalog.find_run(arguments.run)
    events = records.read_events(found.path)
    history, trouble = _history(found)
    if arguments.json:
        data = {**as_data(found), "events": events, "prefect": history}
        write(json.dumps(plain(data), indent=1))
    else:
        write("\n\n".join(_text(found, events, history, trouble)))
    return 0


def _history(run: FoundRun) -> tuple[list[FlowRunHistory], str | None]:
    ids, url = flow_run_ids(run.path), prefect_api.known_url()
    if not ids or url is None:
        return [], "its API is not up; plugrl ui starts it" if ids else None
    try:
        return read_history(ids, url), None
    except HistoryUnavailableError as error:
        return [], str(error)


def _text(
    run: FoundRun, events: list[Event], history: list[FlowRunHistory], trouble: str | None
) -> list[str]:
    parts = [columns(_facts(run))]
    if events:
        kept = _kept(events)
        which = "" if len(kept) == len(events) else f", {len(kept)} of {len(events)} (--json: all)"
        table = columns(_event_rows(kept), indent=2, width=terminal_width())
        parts.append(f"events{which}:\n{table}")
    for flow_run in history:
        rows = [_flow_run_row(flow_run), *(_flow_run_row(one, "  ") for one in flow_run.attempts)]
        table = columns([("FLOW RUN", "STATE", "TOOK", "TASKS", "WHY"), *rows], indent=2)
        parts.append(f"in Prefect, {flow_run.url}\n{table}")
    if trouble:
        parts.append(f"in Prefect: {trouble}")
    return parts


def _facts(run: FoundRun) -> list[tuple[str, str]]:
    record, status = run.record, run.status
    why = reason_of(run)
    facts = [
        ("run", record.exp_name),
        ("state", f"{state_of(run)}{f': {why}' if why else ''}"),
        ("step", steps_of(run)),
        ("policy", f"{record.policy} {record.policy_variant}"),
        ("algorithm", f"{record.algorithm} {record.algorithm_variant}"),
        ("env", record.env or "-"),
        ("seed", str(record.seed)),
        ("folder", str(run.path)),
        ("started", moment(record.created_at)),
        ("command", shlex.join(record.argv) or "-"),
    ]
    if record.parent_checkpoint:
        facts.append(("began from", record.parent_checkpoint))
    if status is not None:
        facts.append(("attempts", str(status.attempt)))
        since = "ended" if status.state.final else "heard of"
        facts.append((since, f"{duration(time.time() - status.updated_at)} ago"))
        saved = status.last_checkpoint
        facts.append(("last checkpoint", "-" if saved is None else saved.path))
        if status.url:
            facts.append(("listens at", status.url))
        if status.flow_run_url:
            facts.append(("in Prefect", status.flow_run_url))
    return facts


def _kept(events: list[Event]) -> list[Event]:
    """The latest remarkable events, with the newest one in any case."""
    told = [event for event in events if event.event not in UNREMARKABLE]
    return [event for event in told[-DEFAULT_EVENTS:] if event is not events[-1]] + [events[-1]]


def _event_rows(events: list[Event]) -> list[tuple[str, ...]]:
    return [
        ("TIME", "ATTEMPT", "STEP", "EVENT", ""),
        *(
            (moment(e.time), str(e.attempt), f"{e.step:,}", e.event, _details(e.details))
            for e in events
        ),
    ]


def _details(details: Mapping[str, Any]) -> str:
    told = {name: value for name, value in details.items() if name not in HIDDEN}
    return ", ".join(
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in told.items()
    )


def _flow_run_row(flow_run: FlowRunHistory, indent: str = "") -> tuple[str, ...]:
    return (
        f"{indent}{flow_run.name}",
        flow_run.state,
        "-" if flow_run.seconds is None else duration(flow_run.seconds),
        _tasks(flow_run),
        flow_run.message or "",
    )


def _tasks(flow_run: FlowRunHistory) -> str:
    known, there = len(flow_run.tasks), flow_run.num_tasks
    return str(there) if known == there else f"{there}, of which {known} were read"
