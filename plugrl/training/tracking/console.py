"""The console: a compact table a learn on a terminal, one plain line a learn elsewhere."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from plugrl.training.tracking.sink import TrackedRun

# What a plain line says, in this order, of the metrics that there are.
LINE_METRICS = {
    "rollout/episode_return_mean": "return",
    "rollout/episode_length_mean": "length",
    "rollout/num_episodes": "episodes",
    "eval/return_mean": "eval return",
    "eval/return_std": "std",
    "eval/return_low": "from",
    "eval/return_high": "to",
    "eval/num_episodes": "over episodes",
    "time/fps": "fps",
    "time/eta_s": "eta",
}


class ConsoleSink:
    """Writes to standard output."""

    def __init__(self, run: TrackedRun, console: Console | None = None) -> None:
        """Write for ``run`` to ``console``, by default that of standard output."""
        self._run = run
        self._console = console or Console()

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Show one learn."""
        if self._console.is_terminal:
            self._console.print(self._table(step, metrics))
        else:
            self._console.print(
                self._line(step, metrics), soft_wrap=True, markup=False, highlight=False
            )

    def close(self) -> None:
        """Nothing is held."""

    def _line(self, step: int, metrics: Mapping[str, float]) -> str:
        said = [f"step {self._position(step)}"]
        said += [
            f"{word} {format_metric(name, metrics[name])}"
            for name, word in LINE_METRICS.items()
            if name in metrics
        ]
        return " | ".join(said)

    def _table(self, step: int, metrics: Mapping[str, float]) -> Panel:
        by_group: dict[str, list[str]] = defaultdict(list)
        for name in sorted(metrics):
            by_group[name.rpartition("/")[0]].append(name)
        groups = [_group(group, names, metrics) for group, names in by_group.items()]
        return Panel(
            Columns(groups, padding=(0, 3)),
            title=f"[bold]{self._run.exp_name}[/] step {self._position(step)}",
            title_align="left",
            border_style="dim",
        )

    def _position(self, step: int) -> str:
        total = self._run.total_steps
        return f"{step:,}" if total is None else f"{step:,}/{total:,} ({step / total:.0%})"


def format_metric(name: str, value: float) -> str:
    """A number for people: durations as h:mm:ss, counts grouped, four digits otherwise."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if name in ("time/eta_s", "time/elapsed_s"):
        return str(timedelta(seconds=round(value)))
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _group(group: str, names: list[str], metrics: Mapping[str, float]) -> Table:
    table = Table(
        title=group or None,
        title_style="bold cyan",
        title_justify="left",
        box=None,
        show_header=False,
        pad_edge=False,
        padding=(0, 1),
    )
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name in names:
        table.add_row(name.rpartition("/")[2], format_metric(name, metrics[name]))
    return table
