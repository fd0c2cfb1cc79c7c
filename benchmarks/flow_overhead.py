"""What supervision and Prefect cost: ``plugrl-flow train`` beside ``plugrl launch``.

    python -m benchmarks.flow_overhead

Pairs of runs alternate, PPO on Hopper with two client processes of four envs each; rates are taken
between the first and the last learn of a run, and medians count. The supervisor's memory is the
largest seen. In one more run Prefect's API is killed half-way, and the rates before and after are
compared. The API is one of the benchmark's own.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import psutil

from benchmarks.record import record
from flows import api
from plugrl.runs import prefect_api

ROLLOUT = 2048
TRAIN = ("gaussian-policy", "default", "ppo", "default", "--env", "hopper", "--num-procs", "2")
LAUNCH = ("-m", "plugrl.cli.main", "launch")
FLOW = ("-m", "flows.cli", "train")
SAMPLE_S = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rollouts", type=int, default=60)
    parser.add_argument("--save-interval", type=int, default=25, help="learns between checkpoints")
    args = parser.parse_args()
    flags = ("--algo.save-interval", str(args.save_interval))
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLUGRL_HOME"] = home
        os.environ[prefect_api.PORT_VARIABLE] = str(_free_port())
        os.environ[prefect_api.API_VARIABLE] = api.start()
        pairs = [_pair(args.rollouts, flags) for _ in range(args.pairs)]
        killed = _with_api_killed(2 * args.rollouts, flags)
        api.stop()
    ratios = [pair["flow"] / pair["launch"] for pair in pairs]
    result = {
        "pairs": pairs,
        "median_ratio_to_launch": statistics.median(ratios),
        "supervisor_mib": max(pair["supervisor_mib"] for pair in pairs),
        "api_killed_half_way": killed,
    }
    print(json.dumps({name: value for name, value in result.items() if name != "pairs"}))
    print("written to", record("flow_overhead", result))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _pair(rollouts: int, flags: tuple[str, ...]) -> dict[str, float]:
    launch, _ = _train(LAUNCH, rollouts, flags)
    flow, memory = _train(FLOW, rollouts, flags)
    return {"launch": _rate(launch), "flow": _rate(flow), "supervisor_mib": memory / 2**20}


def _train(
    command: tuple[str, ...], rollouts: int, flags: tuple[str, ...], kill_api_at: int = 0
) -> tuple[list[dict[str, Any]], int]:
    """The learns of a run, and the largest memory of its first process, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                *(sys.executable, *command, *TRAIN, "--num-envs", "4", "--port", "0", *flags),
                *("--exp-name", "run", "--checkpoint-base-dir", folder),
                *("--algo.global-steps", str(rollouts * ROLLOUT)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        memory, path = 0, Path(folder) / "ppo" / "gaussian-policy" / "run" / "metrics.jsonl"
        done = threading.Event()
        while process.poll() is None:
            try:
                memory = max(memory, psutil.Process(process.pid).memory_info().rss)
            except psutil.NoSuchProcess:
                break
            if kill_api_at and path.exists() and len(_learns(path)) >= kill_api_at:
                kill_api_at = 0
                server = prefect_api.local_server()
                assert server is not None
                psutil.Process(server.pid).kill()
            done.wait(SAMPLE_S)
        if process.wait():
            raise RuntimeError(f"expected exit code 0 of {command}, got {process.returncode}")
        return _learns(path), memory


def _learns(path: Path) -> list[dict[str, Any]]:
    return [m for m in map(json.loads, path.read_text().splitlines()) if "time/learn_seconds" in m]


def _rate(learns: list[dict[str, Any]]) -> float:
    first, last = learns[0], learns[-1]
    return float((last["step"] - first["step"]) / (last["time"] - first["time"]))


def _with_api_killed(rollouts: int, flags: tuple[str, ...]) -> dict[str, Any]:
    half = rollouts // 2
    learns, _ = _train(FLOW, rollouts, flags, kill_api_at=half)
    before, after = _rate(learns[:half]), _rate(learns[half + 1 :])
    return {"before": before, "after": after, "ratio": after / before, "step": learns[-1]["step"]}


if __name__ == "__main__":
    main()
