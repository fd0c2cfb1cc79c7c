"""The first line: which run, how it is, how far, how it is reached; and a sentence if need be."""

from collections.abc import Sequence
from typing import ClassVar

from plugrl.runs.records import RunState
from plugrl_tui.core import format as fmt
from plugrl_tui.core.model import Link, Part
from plugrl_tui.widgets.pane import Row, Span
from plugrl_tui.widgets.run_pane import RunPane
from plugrl_tui.widgets.state_signs import STATE_SIGNS


class TopBar(RunPane):
    """One line, without a border."""

    DEFAULT_CSS = """
    TopBar { height: 1; border: none; padding: 0; background: $panel; }
    TopBar:focus { border: none; }
    """
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.HEAD})
    TICKS = 2
    can_focus = False
    frozen = False
    """Whether the screen is held still."""

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """From the left as much as fits; the link at the right."""
        link, link_style = self._link()
        room = width - len(link) - 3
        state = self.model.verdict().state
        sign, style = STATE_SIGNS[state]
        name_room = max(room - len(state) - 4, 6)
        row = [
            Span(f" {fmt.fitted(self.model.title, name_room)} ", "strong"),
            Span(f"{sign} {state}", style),
        ]
        used = sum(len(span.text) for span in row)
        for text in self._progress():
            if used + 2 + len(text) <= room:
                row.append(Span(f"  {text}"))
                used += 2 + len(text)
        return [[*row, Span(" " * max(width - used - len(link) - 1, 1)), Span(link, link_style)]]

    def _progress(self) -> list[str]:
        step, total = self.model.step, self.model.total_steps
        if step is None:
            return []
        parts = [f"step {fmt.progress(step, total)}"]
        if total:
            parts.append(fmt.percent(min(step / total, 1.0)))
        eta = self.model.eta_seconds()
        if eta is not None and self.model.verdict().state is RunState.RUNNING:
            parts.append(f"ETA {fmt.duration(eta)}")
        return parts

    def _link(self) -> tuple[str, str]:
        model = self.model
        where = (model.url or "").partition("://")[2]
        if self.frozen:
            return "FROZEN, space goes on", "warn"
        if model.link is Link.LIVE:
            return (f"STALE {where}", "warn") if model.stale else (f"LIVE {where}", "good")
        style = {Link.REFUSED: "bad", Link.RECONNECTING: "warn"}.get(model.link, "dim")
        return str(model.link), style


class NoticeLine(RunPane):
    """A sentence under the first line, only while there is something to say."""

    DEFAULT_CSS = """
    NoticeLine { height: 1; border: none; display: none; padding: 0 1; }
    NoticeLine:focus { border: none; }
    NoticeLine.-told { display: block; }
    """
    PARTS: ClassVar[frozenset[Part]] = frozenset({Part.HEAD})
    can_focus = False

    def tick(self) -> None:
        """Look at the clock, too: a count-down is no change of the model, nor is a lost process."""
        self._countdown -= 1
        counting = self.model.stale or self.model.retry_at is not None
        if self._revisions() != self._seen or self._countdown <= 0:
            self._countdown = _COUNTING_TICKS if counting else _IDLE_TICKS
            self.set_class(bool(self.sentence()), "-told")
            self.draw()

    def rows(self, width: int, height: int) -> Sequence[Row]:
        """The sentence."""
        return [[Span(fmt.fitted(self.sentence(), width), "warn")]]

    def sentence(self) -> str:
        """What is to be said now; nothing most of the time."""
        model = self.model
        if model.link in {Link.RECONNECTING, Link.REFUSED}:
            left = max((model.retry_at or 0) - model.clock(), 0)
            return f"{model.link_reason}; again in {left:.0f} s, R now"
        if model.link is Link.CONNECTING:
            return f"connecting to {model.url}"
        verdict = model.verdict()
        if verdict.state in _SPEAKING and verdict.reason:
            resumable = model.folder and verdict.state in _RESUMABLE
            hint = ["r in RUNS resumes it"] if resumable else []
            return "; ".join([verdict.reason, *model.problems, *hint])
        if model.stale and model.link is Link.LIVE:
            assert model.received_at is not None
            age = fmt.duration(model.clock() - model.received_at)
            return f"the server has said nothing for {age}; what is shown is that old"
        return "; ".join(model.problems)


_COUNTING_TICKS, _IDLE_TICKS = 2, 8
_RESUMABLE = frozenset({RunState.FAILED, RunState.STOPPED, RunState.LOST})
_SPEAKING = frozenset(RunState) - {RunState.RUNNING, RunState.DONE}
