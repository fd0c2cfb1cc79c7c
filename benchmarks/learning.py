"""Learning curves of PPO over three seeds, and the table of what they end with.

    python -m benchmarks.learning                 run what is missing, then write the results
    python -m benchmarks.learning --only-table    write the results of what has run

Every run is ``plugrl launch`` with its own folder under --base-dir; one that was interrupted is
resumed from its newest checkpoint. The score is the mean training return of the last 100 episodes.
One client has all eight envs: so a seed learns the same whenever it is repeated, which with two
clients it does not, for their frames come in another order each time.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.record import RESULTS, record

CURVE_POINTS = 120


class Task(NamedTuple):
    """An env to learn, with what for."""

    env: str
    policy: str
    variant: str
    steps: int
    threshold: float
    reference: str
    """What others reach, as design documents and papers have it."""


TASKS = (
    Task("hopper", "gaussian-policy", "default", 1_000_000, 2000, "2383 ± 272 (CleanRL, v4)"),
    Task("halfcheetah", "gaussian-policy", "default", 1_000_000, 1400, "1443 ± 46 (CleanRL, v4)"),
    Task("walker2d", "gaussian-policy", "default", 1_000_000, 2700, "2288 ± 572 (CleanRL, v4)"),
    Task("cartpole", "categorical-policy", "cartpole", 200_000, 475, "490 ± 6 (CleanRL, 500k)"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-dir", type=Path, default=Path("runs/learning"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--envs", nargs="+", default=[task.env for task in TASKS])
    parser.add_argument("--only-table", action="store_true")
    args = parser.parse_args()
    tasks = [task for task in TASKS if task.env in args.envs]
    if not args.only_table:
        for seed in args.seeds:
            for task in tasks:
                run(task, seed, args.base_dir)
    results = {task.env: scores(task, args.seeds, args.base_dir) for task in tasks}
    print(table(results))
    print("written to", record("learning", results))
    print("written to", plot(results))


def run(task: Task, seed: int, base_dir: Path) -> None:
    """Train one seed to its end, from where it stands."""
    learns = metrics(task, seed, base_dir)
    if learns and learns[-1]["step"] >= task.steps:
        return
    command = [sys.executable, "-m", "plugrl.cli.main", "launch", task.policy, "default"]
    command += ["ppo", task.variant, "--env", task.env, "--num-procs", "1", "--num-envs", "8"]
    command += ["--seed", str(seed), "--port", "0", "--checkpoint-base-dir", str(base_dir)]
    command += ["--exp-name", name(task, seed), "--algo.global-steps", str(task.steps)]
    if learns:
        command.append("--resume" if _has_checkpoint(task, seed, base_dir) else "--overwrite")
    print(" ".join(command), flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def metrics(task: Task, seed: int, base_dir: Path) -> list[dict[str, Any]]:
    """What the run wrote after each learn, oldest first."""
    path = _folder(task, seed, base_dir) / "metrics.jsonl"
    if not path.exists():
        return []
    return [
        learn
        for learn in map(json.loads, path.read_text().splitlines())
        if "time/learn_seconds" in learn
    ]


def name(task: Task, seed: int) -> str:
    return f"{task.env}-s{seed}"


def _folder(task: Task, seed: int, base_dir: Path) -> Path:
    return base_dir / "ppo" / task.policy / name(task, seed)


def _has_checkpoint(task: Task, seed: int, base_dir: Path) -> bool:
    return any(path.name.isdigit() for path in _folder(task, seed, base_dir).iterdir())


def scores(task: Task, seeds: list[int], base_dir: Path) -> dict[str, Any]:
    """Final scores and thinned curves of the seeds that have finished."""
    curves: dict[str, list[tuple[int, float]]] = {}
    finals: dict[str, float] = {}
    for seed in seeds:
        learns = [m for m in metrics(task, seed, base_dir) if "rollout/episode_return_mean" in m]
        if not learns or learns[-1]["step"] < task.steps:
            continue
        points = [(m["step"], round(m["rollout/episode_return_mean"], 1)) for m in learns]
        stride = max(1, len(points) // CURVE_POINTS)
        curves[str(seed)] = [*points[::stride], points[-1]]
        finals[str(seed)] = points[-1][1]
    return {
        "steps": task.steps,
        "threshold": task.threshold,
        "reference": task.reference,
        "final_return_by_seed": finals,
        "mean": statistics.mean(finals.values()) if finals else None,
        "curves": curves,
    }


def table(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    lines = ["| env | steps | returns by seed | mean | reference |", "|---|---|---|---|---|"]
    for env, result in results.items():
        finals = " / ".join(f"{value:.0f}" for value in result["final_return_by_seed"].values())
        mean = "—" if result["mean"] is None else f"{result['mean']:.0f}"
        lines.append(f"| {env} | {result['steps']:,} | {finals} | {mean} | {result['reference']} |")
    return "\n".join(lines)


def plot(results: dict[str, Any]) -> Path:
    """One panel an env, one line a seed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(4 * len(results), 3), squeeze=False)
    for axis, (env, result) in zip(axes[0], results.items(), strict=True):
        for seed, curve in result["curves"].items():
            axis.plot(*zip(*curve, strict=True), label=f"seed {seed}", linewidth=1)
        axis.axhline(result["threshold"], color="grey", linestyle="--", linewidth=0.8)
        axis.set_title(env)
        axis.set_xlabel("env steps")
    axes[0][0].set_ylabel("return, last 100 episodes")
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    path = RESULTS / "learning.png"
    figure.savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    main()
