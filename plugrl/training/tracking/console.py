"""The console: a compact table on a terminal, one plain line elsewhere; never a flood."""

import math
import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plugrl.training.tracking.sink import TrackedRun

TABLE_PAUSE_S = 2.0
"""Least seconds between two tables."""
LINE_PAUSE_S = 1.0
"""Least seconds between two plain lines."""

# What a plain line says, and a table first, in this order, of the metrics that there are.
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
        self._unseen: tuple[int, Mapping[str, float]] | None = None
        self._next_at = 0.0

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Show one learn, unless one was shown just now."""
        self._unseen = (step, metrics)
        if time.monotonic() >= self._next_at:
            self._show()

    def close(self) -> None:
        """Show the last learn, if it has not been."""
        self._show()

    def _show(self) -> None:
        if self._unseen is None:
            return
        (step, metrics), self._unseen = self._unseen, None
        if self._console.is_terminal:
            self._console.print(self._table(step, metrics))
            self._next_at = time.monotonic() + TABLE_PAUSE_S
        else:
            line = self._line(step, metrics)
            self._console.print(line, soft_wrap=True, markup=False, highlight=False)
            self._next_at = time.monotonic() + LINE_PAUSE_S

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
        for name in sorted(metrics.keys() - LINE_METRICS.keys(), key=_order):
            by_group[name.rpartition("/")[0]].append(name)
        table = Table.grid(padding=(0, 2))
        first = {word: name for name, word in LINE_METRICS.items() if name in metrics}
        table.add_row(Text("run", style="bold cyan"), _values(first, metrics))
        for group, names in by_group.items():
            words = {name.rpartition("/")[2]: name for name in names}
            table.add_row(Text(group, style="bold cyan"), _values(words, metrics))
        return Panel(
            table,
            title=f"[bold]{self._run.exp_name}[/] step {self._position(step)}",
            title_align="left",
            border_style="dim",
        )

    def _position(self, step: int) -> str:
        total = self._run.total_steps
        return f"{step:,}" if total is None else f"{step:,}/{total:,} ({min(step / total, 1):.0%})"


def format_metric(name: str, value: float) -> str:
    """A number for people: durations as h:mm:ss, counts grouped, four digits otherwise."""
    if not math.isfinite(value):
        return str(value)
    if name in ("time/eta_s", "time/elapsed_s"):
        return str(timedelta(seconds=round(value)))
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _order(name: str) -> tuple[bool, str]:
    return not name.startswith("train/"), name


def _values(names: Mapping[str, str], metrics: Mapping[str, float]) -> Text:
    text = Text(overflow="fold")
    for word, name in names.items():
        # Spaces that do not break keep a number beside its name where the row is wrapped.
        text.append(f"{word} ".replace(" ", "\N{NO-BREAK SPACE}"), style="dim")
        text.append(f"{format_metric(name, metrics[name])}".replace(" ", "\N{NO-BREAK SPACE}"))
        text.append("   ")
    return text
