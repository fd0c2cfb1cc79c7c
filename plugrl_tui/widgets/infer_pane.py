"""1 Infer queue: what is asked, what is answered, how long that takes, and who is waited for."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from plugrl_tui.core import format as fmt
from plugrl_tui.core.glyphs import bar, sparkline
from plugrl_tui.core.model import Part
from plugrl_tui.core.snapshot import InferQueue, Percentiles, Snapshot
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane

_NAMES_SHOWN = 12
_BUCKETS = 8
_FULL_SHARE = 0.9
"""Batches so nearly as large as can be mean that the policy is what limits."""


class InferPane(RunPane):
    """The infer queue; zoomed, with a histogram of batch sizes."""

    NAME = "1 Infer queue"
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.QUEUE})
    TICKS = 2

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """Four lines; zoomed, as many as there are."""
        snapshot = self.model.snapshot
        if snapshot is None:
            return [[Span("no server, so nothing is queued", "dim")]]
        queue = snapshot.queue
        rows = [
            self._queued(snapshot, width),
            self._flow(snapshot, width),
            _latency("wait ", queue.wait, " ms p50·95·max"),
            _latency("infer", queue.infer, " ms"),
        ]
        if self.zoomed:
            rows += [[], *self._histories(width), [], *_histogram(queue, width, _most(snapshot))]
            rows += [[], *_waited_for(queue, width)]
        return rows

    def _queued(self, snapshot: Snapshot, width: int) -> Row:
        if self.model.is_over:
            return [Span("the run is over; its last were", "dim")]
        queue = snapshot.queue
        if queue.threshold_envs is not None:
            text = f"{queue.envs}/{queue.threshold_envs} envs"
        else:
            text = f"{queue.requests}/{queue.threshold_requests or 0}"
        head = f"{text:<8}"
        spark = sparkline(self.model.rates.queued, width - len(head) - 8)
        return [Span("queued ", "dim"), Span(head, "strong"), Span(" "), Span(spark, "accent")]

    def _flow(self, snapshot: Snapshot, width: int) -> Row:
        rates = self.model.rates
        # Before two snapshots are a second apart, the server's own mean stands in.
        mean_so_far = snapshot.counters.frames_per_second
        first = math.nan if mean_so_far is None else mean_so_far
        came = rates.frames[-1] if rates.frames else first
        went = rates.actions[-1] if rates.actions else math.nan
        sizes = snapshot.queue.batch_sizes
        mean = f"{sum(sizes) / len(sizes):.0f}" if sizes else fmt.MISSING
        flow = f"{fmt.count(came)}/{fmt.count(went)}"
        row = [Span("in/out ", "dim"), Span(flow, "strong"), Span(" /s   ", "dim")]
        most = _most(snapshot)
        of_most = f"/{most}" if most else ""
        if width >= 7 + len(flow) + 6 + len(f"batch {mean}{of_most}"):
            row += [Span("batch ", "dim"), Span(mean, "strong"), Span(of_most, "dim")]
        return row

    def _histories(self, width: int) -> list[Row]:
        rates, room = self.model.rates, width - 15
        return [
            [Span("queued envs    ", "dim"), Span(sparkline(rates.queued, room), "accent")],
            [Span("frames in /s   ", "dim"), Span(sparkline(rates.frames, room), "accent")],
            [Span("actions out /s ", "dim"), Span(sparkline(rates.actions, room), "accent")],
        ]


def _most(snapshot: Snapshot) -> int:
    """The most envs that one batch can have."""
    return sum(worker.envs for worker in snapshot.workers)


def _latency(name: str, numbers: Percentiles | None, unit: str) -> Row:
    if numbers is None:
        return [Span(f"{name} ", "dim"), Span(fmt.MISSING)]
    p50, p95, highest = (fmt.millis(number) for number in numbers)
    return [
        *(Span(f"{name} ", "dim"), Span(p50, "strong"), Span("·", "dim")),
        *(Span(p95, "strong"), Span("·", "dim"), Span(highest, "strong"), Span(unit, "dim")),
    ]


def _histogram(queue: InferQueue, width: int, most: int) -> list[Row]:
    sizes = queue.batch_sizes
    if not sizes:
        return [[Span("no batches yet", "dim")]]
    step = max(1, math.ceil(max(*sizes, most) / _BUCKETS))
    counts = Counter((size - 1) // step for size in sizes)
    rows: list[Row] = [[Span(f"envs in the latest {len(sizes)} batches", "head")]]
    for bucket in range(max(counts) + 1):
        first, last = bucket * step + 1, (bucket + 1) * step
        label = f"{first}" if first == last else f"{first} to {last}"
        number = counts[bucket]
        line = bar(number / len(sizes), max(width - 20, 1))
        rows.append([Span(f"{label:>12} ", "dim"), Span(f"{number:>4} "), Span(line, "accent")])
    return [*rows, [Span(_meaning(sum(sizes) / len(sizes), most), "dim")]]


def _meaning(mean: float, most: int) -> str:
    if most and mean >= _FULL_SHARE * most:
        return "batches are full: every env waits for the policy; more envs give more frames"
    return "batches are not full: the queue is waited for by few envs at a time"


def _waited_for(queue: InferQueue, width: int) -> list[Row]:
    if not queue.requests:
        return [[Span("nobody is waiting", "dim")]]
    waited = fmt.duration(queue.oldest_wait_seconds)
    head = [Span("the oldest request has waited ", "dim"), Span(waited, "strong")]
    if not queue.missing:
        return [head]
    names = ", ".join(f"w{number:02d}" for number in queue.missing[:_NAMES_SHOWN])
    more = len(queue.missing) - _NAMES_SHOWN
    text = f"for {names}" + (f" and {more} more" if more > 0 else "")
    return [head, [Span(fmt.fitted(text, width))]]
