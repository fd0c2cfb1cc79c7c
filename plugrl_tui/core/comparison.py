"""Runs beside one another: their curves over a common axis, and where their configs differ."""

import bisect
import contextlib
import csv
import io
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from plugrl.errors import UsageError
from plugrl_tui.core.curves import RETURN, Curve
from plugrl_tui.core.downsample import Extent, Pyramid, smoothed
from plugrl_tui.core.feed_folder import FolderFiles
from plugrl_tui.core.format import MISSING, grouped, value
from plugrl_tui.core.model import RunModel
from plugrl_tui.core.run_filter import flat
from plugrl_tui.core.svg_chart import Line, svg

LETTERS = "ABCD"
MAX_RUNS = len(LETTERS)
_NAMES = ("algorithm", "algorithm_variant", "policy", "policy_variant", "env")
_NO_NEWS = ("run.exp_name", "run.resume", "run.overwrite", "run.checkpoint_base_dir")
"""Fields that always differ and tell nothing."""


class Difference(NamedTuple):
    """One field over all runs."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs have different values."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """What lies along x: steps, or seconds since each run's own beginning."""

    over_time: bool
    first: float
    last: float


class Compared:
    """One run, read again as it grows."""

    def __init__(self, letter: str, path: Path) -> None:
        """Read the run in ``path``.

        Args:
            letter: what it is called in the chart.
            path: its folder.
        """
        self.letter = letter
        self.path = path
        self.model = RunModel(path.name)
        self._files = FolderFiles(path)
        self.lock = threading.Lock()
        """Held while the model changes."""

    def read(self) -> None:
        """Take what is new; call it in a thread, or in several."""
        more = True
        while more:
            with self.lock:
                more = self._files.read_into(self.model)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    def curve(self, metric: str) -> Curve | None:
        """A curve with points, if it has one."""
        found = self.model.curves.get(metric)
        return found if found is not None and len(found.values) else None

    def along(self, metric: str, *, over_time: bool) -> Sequence[float]:
        """The places of a metric's points along x."""
        curve = self.curve(metric)
        if curve is None:
            return ()
        if not over_time:
            return curve.steps
        return [moment - curve.times[0] for moment in curve.times]


@contextlib.contextmanager
def held(runs: Sequence[Compared]) -> Iterator[bool]:
    """Keep the runs as they are for a while; False where one is being read, which may take long."""
    with contextlib.ExitStack() as stack:
        ours = True
        for run in runs:
            if not run.lock.acquire(blocking=False):
                ours = False
                break
            stack.callback(run.lock.release)
        yield ours


def compared(paths: Sequence[Path]) -> list[Compared]:
    """Runs with letters, not read yet.

    Raises:
        UsageError: there are too few or too many.
    """
    if not 2 <= len(paths) <= MAX_RUNS:
        raise UsageError(f"expected 2 to {MAX_RUNS} runs to compare, got {len(paths)}")
    return [Compared(letter, path) for letter, path in zip(LETTERS, paths, strict=False)]


def metrics(runs: Sequence[Compared]) -> list[str]:
    """The metrics that any run has, the return first."""
    names = [name for run in runs for name in run.model.curves.names()]
    return sorted(dict.fromkeys(names), key=lambda name: name != RETURN)


def axis(runs: Sequence[Compared], metric: str, *, over_time: bool) -> Axis | None:
    """The axis on which all runs have room; None where no run has a point."""
    found = [a for run in runs if (a := run.along(metric, over_time=over_time))]
    if not found:
        return None
    first, last = min(a[0] for a in found), max(a[-1] for a in found)
    return Axis(over_time=over_time, first=first, last=last if last > first else first + 1)


def columns(
    run: Compared, metric: str, over: Axis, num: int, smoothing: float
) -> list[Extent | None]:
    """The extent of a run's curve in each of ``num`` equal parts of the axis."""
    curve = run.curve(metric)
    if curve is None:
        return [None] * num
    values = curve.values
    if smoothing:
        values = Pyramid(smoothed(curve.values.values, smoothing))
    along = run.along(metric, over_time=over.over_time)
    edges = [
        bisect.bisect_right(along, over.first + (over.last - over.first) * part / num)
        for part in range(num + 1)
    ]
    edges[0] = 0
    own_last = along[-1]
    found: list[Extent | None] = []
    for part, (low, high) in enumerate(pairwise(edges)):
        begins = over.first + (over.last - over.first) * part / num
        beyond = high == 0 or (low == high and begins > own_last)
        # Where a part has no point, the line goes on from the point before it.
        found.append(None if beyond else values.extent(max(min(low, high - 1), 0), high))
    return found


def differences(runs: Sequence[Compared]) -> list[Difference]:
    """What is to be told of the runs side by side: results first, then every field."""
    told = [
        Difference("state", tuple(str(run.model.verdict().state) for run in runs)),
        Difference("step", tuple(grouped(run.model.step) for run in runs)),
        Difference("return", tuple(value(run.model.curves.last(RETURN)) for run in runs)),
        Difference("began from", tuple(_began_from(run) for run in runs)),
    ]
    told += [Difference(name, tuple(_named(run, name) for run in runs)) for name in _NAMES]
    configs = [dict(flat(run.model.record.config)) if run.model.record else {} for run in runs]
    fields = [key for key in dict.fromkeys(k for c in configs for k in c) if key not in _NO_NEWS]
    told += [Difference(key, tuple(_shown(c.get(key, MISSING)) for c in configs)) for key in fields]
    return told


def csv_text(runs: Sequence[Compared]) -> str:
    """All points of all metrics, one a line; call it in a thread."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("run", "step", "time", "metric", "value"))
    for run in runs:
        with run.lock:
            for metric in run.model.curves.names():
                for step, moment, number in _points(run, metric):
                    writer.writerow((run.name, step, moment, metric, number))
    return text.getvalue()


def svg_text(runs: Sequence[Compared], metric: str, *, over_time: bool) -> str:
    """A picture of one metric; call it in a thread."""
    lines = []
    for run in runs:
        with run.lock:
            points = list(_points(run, metric))
        begin = points[0][1] if points else 0.0
        xs = (moment - begin if over_time else step for step, moment, _ in points)
        lines.append(Line(run.name, [(x, p[2]) for x, p in zip(xs, points, strict=True)]))
    x_label = "seconds since the start" if over_time else "steps"
    return svg(lines, title=metric, x_label=x_label)


def _points(run: Compared, metric: str) -> Iterator[tuple[int, float, float]]:
    """Step, time and value of a metric's finite points."""
    curve = run.curve(metric)
    if curve is not None:
        for step, moment, number in zip(curve.steps, curve.times, curve.values.values, strict=True):
            if math.isfinite(number):
                yield step, moment, number


def _began_from(run: Compared) -> str:
    parent = run.model.record.parent_checkpoint if run.model.record else None
    if parent is None:
        return "fresh weights"
    return f"{Path(parent).parent.name} @ {Path(parent).name}"


def _named(run: Compared, name: str) -> str:
    found = getattr(run.model.record, name, None)
    return MISSING if found is None else str(found)


def _shown(found: object) -> str:
    if isinstance(found, list):
        return " ".join(map(str, found))
    if found is None or isinstance(found, bool):
        return str(found).lower()
    return str(found)
