"""PPO with learning, env steps a second, beside Stable-Baselines3's at equal settings.

    python -m benchmarks.end_to_end

Both train with 8 envs, 2048 frames a rollout, 32 minibatches, 10 epochs, 64-64 tanh networks,
normalised observations and rewards, and one torch thread. Ours is ``plugrl launch`` with 2 client
processes of 4 envs; theirs is measured with its default vector of envs in one process and with
one process an env. The runs alternate; rates are taken between the first and the last learn of a
run, so that start-up counts for nobody, and medians count.
"""

import argparse
import io
import json
import pstats
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, record

ENVS = {"hopper": "Hopper-v5", "halfcheetah": "HalfCheetah-v5"}
ROLLOUT, NUM_ENVS = 2048, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rollouts", type=int, default=15)
    args = parser.parse_args()
    steps = args.rollouts * ROLLOUT
    results: dict[str, Any] = {}
    for name, gym_id in ENVS.items():
        rates: dict[str, list[float]] = {"plugrl": [], "sb3_one_process": [], "sb3_processes": []}
        for _ in range(args.rounds):
            rates["plugrl"].append(plugrl_rate(name, steps))
            rates["sb3_one_process"].append(sb3_rate(gym_id, steps, "dummy"))
            rates["sb3_processes"].append(sb3_rate(gym_id, steps, "subproc"))
        medians = {who: statistics.median(values) for who, values in rates.items()}
        results[name] = {
            "median_steps_per_s": medians,
            "ratio_to_one_process": _ratio(rates, "sb3_one_process"),
            "ratio_to_processes": _ratio(rates, "sb3_processes"),
            "samples": rates,
        }
        print(name, json.dumps({k: v for k, v in results[name].items() if k != "samples"}))
    print("written to", record("end_to_end", results))
    profile = RESULTS / "end_to_end_profile.txt"
    profile.write_text(server_profile(steps))
    print("written to", profile)


def _ratio(rates: dict[str, list[float]], other: str) -> float:
    return statistics.median(
        ours / theirs for ours, theirs in zip(rates["plugrl"], rates[other], strict=True)
    )


def plugrl_rate(env: str, steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "plugrl.cli.main", "launch"]
        command += ["gaussian-policy", "default", "ppo", "default"]
        command += ["--env", env, "--num-procs", "2", "--num-envs", str(NUM_ENVS // 2)]
        command += ["--port", "0", "--exp-name", "run", "--checkpoint-base-dir", folder]
        command += ["--algo.global-steps", str(steps)]
        subprocess.run(command, check=True, capture_output=True)
        lines = next(Path(folder).rglob("metrics.jsonl")).read_text().splitlines()
    learns = [m for m in map(json.loads, lines) if "time/learn_seconds" in m]
    first, last = learns[0], learns[-1]
    return float((last["step"] - first["step"]) / (last["time"] - first["time"]))


def sb3_rate(gym_id: str, steps: int, vector: str) -> float:
    command = [sys.executable, "-m", "benchmarks.end_to_end_sb3", gym_id, str(steps), vector]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def server_profile(steps: int) -> str:
    """Where the server's time goes, by function, over one run on Hopper."""
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "server.prof"
        command = [
            sys.executable,
            "-m",
            "cProfile",
            "-o",
            str(stats),
            "-m",
            "plugrl.cli.run_server",
        ]
        command += [
            "gaussian-policy",
            "default",
            "ppo",
            "default",
            "--env",
            "hopper",
            "--port",
            "8791",
        ]
        command += ["--exp-name", "run", "--checkpoint-base-dir", folder]
        command += ["--algo.global-steps", str(steps)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **quiet):  # type: ignore[call-overload]
            client = [sys.executable, "-m", "plugrl.cli.run_env_client", "hopper"]
            client += ["--server-port", "8791", "--num-procs", "2", "--num-envs", "4"]
            subprocess.run(client, check=True, capture_output=True)
        text = io.StringIO()
        pstats.Stats(str(stats), stream=text).sort_stats("tottime").print_stats(40)
    return without_folders(text.getvalue())


def without_folders(profile: str) -> str:
    """A profile that names files as a reader knows them, wherever they lie on this machine."""
    root = re.escape(f"{Path(__file__).parents[1]}/")
    # The first line names the temporary file that the profile was read from.
    _, _, table = profile.lstrip().partition("\n")
    return re.sub(rf"/\S*/(?:site-packages|python3\.\d+)/|{root}", "", table)


if __name__ == "__main__":
    main()
