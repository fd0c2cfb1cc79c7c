"""Writes the README's tables from the JSON under benchmarks/results.

    python -m benchmarks.tables

Each table stands between two comments that name it, and is replaced whole.
"""

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.learning import table as learning_table
from benchmarks.record import RESULTS

README = Path(__file__).parent.parent / "README.md"


def main() -> None:
    README.write_text(filled(README.read_text()))
    print("written to", README)


def filled(text: str) -> str:
    """``text`` with every table as the results have it now."""
    for name, table in TABLES.items():
        start, stop = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(stop)
        text = before + start + table() + stop + after
    return text


def learning() -> str:
    result = _load("learning")
    envs = {name: result[name] for name in result if isinstance(result[name], dict)}
    return learning_table({n: e for n, e in envs.items() if "final_return_by_seed" in e}) + "\n"


def end_to_end() -> str:
    result, learn = _load("end_to_end"), _load("learn_step")
    lines = [
        "| env steps/s with learning | PlugRL | SB3, one process | SB3, 8 processes | ratio |",
        "|---|---|---|---|---|",
    ]
    for env in ("hopper", "halfcheetah"):
        medians = result[env]["median_steps_per_s"]
        ratio = min(result[env]["ratio_to_one_process"], result[env]["ratio_to_processes"])
        lines.append(
            f"| {env} | {medians['plugrl']:,.0f} | {medians['sb3_one_process']:,.0f} "
            f"| {medians['sb3_processes']:,.0f} | {ratio:.2f} |"
        )
    lines.append("")
    lines.append(f"The learn step takes {learn['ratio']:.2f} of Stable-Baselines3's time.")
    return "\n".join(lines) + "\n"


def exchange() -> str:
    result = _load("exchange")
    lines = [
        "| clients | envs each | bare ping-pong/s | PlugRL exchanges/s | ratio | env steps/s |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cell['clients']} | {cell['envs']} | {cell['bare_exchanges_per_s']:,.0f} "
        f"| {cell['plugrl_exchanges_per_s']:,.0f} | {cell['ratio']:.2f} "
        f"| {cell['plugrl_env_steps_per_s']:,.0f} |"
        for cell in result["cells"]
    ]
    lines.append("")
    lines.append(
        f"A server with 8 clients that ask for nothing uses {result['idle_cpu_percent']:.2f} % "
        "of a core; a Python process that does no more than wake once a second uses "
        f"{result['waking_cpu_percent']:.2f} % meanwhile."
    )
    return "\n".join(lines) + "\n"


def supervision() -> str:
    result = _load("flow_overhead")
    launch = statistics.median(pair["launch"] for pair in result["pairs"])
    killed = result["api_killed_half_way"]
    return (
        "| | |\n|---|---|\n"
        f"| `plugrl launch` | {launch:,.0f} env steps/s |\n"
        f"| `plugrl-flow train` beside it | {result['median_ratio_to_launch']:.2f} of that |\n"
        f"| its supervisor | {result['supervisor_mib']:.0f} MiB |\n"
        f"| after Prefect's API was killed | {killed['ratio']:.2f} of the steps/s before |\n"
    )


def app() -> str:
    cost, viewers = _load("tui_cost"), _load("viewers")
    paint = cost["first_paint_s"]
    return (
        "| | |\n|---|---|\n"
        f"| first picture, RUNS | {paint['runs']['median']:.2f} s |\n"
        f"| live, 64 workers | {cost['live_64_workers']['core_percent']:.1f} % of a core |\n"
        f"| live, 1,000 workers | {cost['live_1000_workers']['core_percent']:.1f} % |\n"
        f"| nothing new | {cost['idle']['core_percent']:.2f} %, nothing repainted |\n"
        f"| exchanges/s with ten viewers | {viewers['ratio']['10']:.2f} of those with none |\n"
    )


def _load(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return result


TABLES: dict[str, Callable[[], str]] = {
    "learning": learning,
    "end_to_end": end_to_end,
    "exchange": exchange,
    "supervision": supervision,
    "app": app,
}

if __name__ == "__main__":
    main()
