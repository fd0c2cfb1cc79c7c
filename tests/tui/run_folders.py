"""Run folders as servers leave them, made without one."""

import json
from pathlib import Path
from typing import Any

from plugrl.runs import catalog
from plugrl.runs.liveness import this_host
from plugrl.runs.records import RunRecord, RunState, RunStatus, write_run, write_status

GONE_PID = 2**22 + 1
"""Above what Linux gives to a process."""
QUICK = (
    "--no-prefect --port 0 --num-procs 2 --num-envs 2 --algo.global-steps 3_000_000 "
    "--algo.rollout-steps 256 --algo.num-minibatches 4 --algo.num-epochs 2 "
    "--algo.save-interval 100_000"
)
"""Flags of a real run that learns at once, and goes on for long enough."""
ARGV = "plugrl-flow train gaussian-policy default ppo default --env=hopper"


def make_run(base: Path, name: str, *, flags: str = "", **about: Any) -> Path:
    """A run of a process that is gone.

    Args:
        base: the folder of all checkpoints.
        name: the run's name.
        flags: what its command adds.
        **about: fields of ``RunRecord`` and of ``RunStatus``.
    """
    folder = base / "ppo" / "gaussian-policy" / name
    folder.mkdir(parents=True)
    of_record = set(RunRecord.__dataclass_fields__) - {"version", "total_steps"}
    record: dict[str, Any] = {
        "exp_name": name,
        "policy": "gaussian-policy",
        "policy_variant": "default",
        "algorithm": "ppo",
        "algorithm_variant": "default",
        "env": "hopper",
        "argv": tuple(f"{ARGV} --exp-name={name} {flags}".split()),
        "total_steps": 1_000_000,
    }
    status: dict[str, Any] = {"state": RunState.DONE, "host": this_host(), "pid": GONE_PID}
    record |= {key: value for key, value in about.items() if key in of_record}
    status |= {key: value for key, value in about.items() if key not in of_record}
    write_run(folder, RunRecord(**record))
    write_status(folder, RunStatus(**status))
    catalog.register(folder)
    return folder


def write_metrics(folder: Path, *lines: dict[str, Any]) -> None:
    """Write ``metrics.jsonl``."""
    text = "".join(json.dumps({"time": 1.0, **line}) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text)


def write_returns(folder: Path, returns: list[float], *, every: int = 1000) -> None:
    """Metrics of learns with these returns, ten seconds apart."""
    lines: list[dict[str, Any]] = [{"event": "started", "step": 0}]
    for place, value in enumerate(returns, 1):
        line = {"step": place * every, "time": 10.0 * place, "train/entropy": 1 / place}
        lines.append({**line, "rollout/episode_return_mean": value})
    write_metrics(folder, *lines)
