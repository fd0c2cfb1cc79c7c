"""Every action of the app, once: keys, footer, help, palette and documentation come from here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """What a person can do with one key."""

    id: str
    """``group.method``: what a person names to choose other keys, and the method that is called."""
    keys: str
    """Keys as Textual names them, separated by commas; the first one is shown."""
    label: str
    """One or two words, for the footer."""
    help: str
    """One sentence, for the help and the palette."""
    shown: bool = True
    """Whether the footer shows it."""
    in_palette: bool = True
    """Whether the palette offers it; moving a cursor makes no sense there."""

    @property
    def group(self) -> str:
        """The screen it belongs to; ``app`` is everywhere."""
        return self.id.partition(".")[0]

    @property
    def method(self) -> str:
        """The name of the screen's (or the app's) method, without ``action_``."""
        return self.id.partition(".")[2]


APP = (
    Action(id="app.help_page", keys="question_mark,f1", label="Help", help="Show all keys."),
    Action(
        id="app.command_palette",
        keys="ctrl+p,colon",
        label="Palette",
        help="Find an action by its name.",
        in_palette=False,
    ),
    Action(
        id="app.next_theme",
        keys="T",
        label="Theme",
        help="Change the colours: dark, light, or the terminal's own.",
        shown=False,
    ),
    Action(
        id="app.leave",
        keys="q",
        label="Leave",
        help="Leave the app; runs go on, and the app says which.",
        shown=False,
    ),
)

RUNS: tuple[Action, ...] = ()

LAUNCH: tuple[Action, ...] = ()

COMPARE: tuple[Action, ...] = ()


def _pane(number: int, name: str) -> Action:
    return Action(
        id=f"monitor.pane_{number}",
        keys=str(number),
        label="Pane",
        help=f"Go to pane {number}, {name}.",
        shown=False,
    )


def _moves(group: str, *, by_pages: bool = True) -> tuple[Action, ...]:
    """The cursor keys of a list."""
    moves = [("up", "up", "one line up"), ("down", "down", "one line down")]
    if by_pages:
        moves += [("page_up", "pageup", "a screen up"), ("page_down", "pagedown", "a screen down")]
    return tuple(
        Action(
            id=f"{group}.{method}",
            keys=keys,
            label="Move",
            help=f"Move {words}.",
            shown=False,
            in_palette=False,
        )
        for method, keys, words in moves
    )


MONITOR = (
    _pane(1, "the infer queue"),
    _pane(2, "the workers"),
    _pane(3, "the discarded frames"),
    _pane(4, "the learn"),
    _pane(5, "the chart"),
    _pane(6, "the log"),
    Action(id="monitor.zoom", keys="z", label="Zoom", help="Give the pane the whole screen."),
    Action(id="monitor.save", keys="k", label="Save", help="Save a checkpoint now."),
    Action(
        id="monitor.stop",
        keys="s",
        label="Stop",
        help="Stop the run: it finishes, saves and can be resumed; the app asks first.",
    ),
    Action(id="monitor.detach", keys="d", label="Detach", help="Go back; the run goes on."),
    Action(
        id="monitor.freeze",
        keys="space",
        label="Freeze",
        help="Hold the screen still, to read or to copy from it.",
    ),
    Action(
        id="monitor.retry",
        keys="R",
        label="Reconnect",
        help="Try to reach the server at once.",
        shown=False,
    ),
    Action(
        id="monitor.copy",
        keys="y",
        label="Copy",
        help="Copy the command that starts an env client for this run.",
        shown=False,
    ),
    Action(
        id="monitor.back",
        keys="escape",
        label="Back",
        help="Leave the zoom; without one, go back.",
        shown=False,
        in_palette=False,
    ),
)

WORKERS = (
    Action(id="workers.sort", keys="o", label="Order", help="Sort by the next column."),
    *_moves("workers"),
)

CHART = (
    Action(id="chart.next_metric", keys="m", label="Metric", help="Draw the next metric."),
    Action(
        id="chart.previous_metric",
        keys="M",
        label="Metric",
        help="Draw the metric before.",
        shown=False,
    ),
    Action(id="chart.toggle_axis", keys="x", label="Axis", help="Steps or time along x."),
    Action(
        id="chart.smooth",
        keys="e",
        label="Smooth",
        help="Average: not at all, over about 10 learns, or over about 100.",
    ),
    Action(
        id="chart.toggle_log", keys="l", label="Log", help="A logarithmic y axis, or a plain one."
    ),
    Action(
        id="chart.left",
        keys="left",
        label="Cursor",
        help="Move the cursor to the left; the border reads the value.",
        shown=False,
        in_palette=False,
    ),
    Action(
        id="chart.right",
        keys="right",
        label="Cursor",
        help="Move the cursor to the right.",
        shown=False,
        in_palette=False,
    ),
    Action(
        id="chart.no_cursor",
        keys="c",
        label="Cursor",
        help="Take the cursor away.",
        shown=False,
    ),
)

LOG = (
    Action(id="log.level", keys="v", label="Level", help="Hide lines below the next level."),
    Action(id="log.search", keys="slash", label="Search", help="Show only lines with some words."),
    Action(id="log.follow", keys="f,end", label="Follow", help="Go to the end, and stay there."),
    *_moves("log"),
)

STOP = (
    Action(id="stop.confirm", keys="enter", label="Stop", help="Stop the run, gracefully."),
    Action(
        id="stop.force",
        keys="F",
        label="Force",
        help="Kill the run's processes; offered only after a graceful stop has failed.",
    ),
    Action(id="stop.close", keys="escape", label="Back", help="Close; a stop asked for goes on."),
)

GROUPS: Mapping[str, tuple[Action, ...]] = {
    "app": APP,
    "runs": RUNS,
    "launch": LAUNCH,
    "monitor": MONITOR,
    "compare": COMPARE,
    "workers": WORKERS,
    "chart": CHART,
    "log": LOG,
    "stop": STOP,
}


def bindings(group: str) -> list[Binding]:
    """The key bindings of a screen, each with the id by which a person gives it other keys."""
    prefix = "app." if group == "app" else ""
    return [
        Binding(action.keys, prefix + action.method, action.label, show=action.shown, id=action.id)
        for action in GROUPS[group]
    ]


def every_action() -> Iterator[Action]:
    """All actions of all groups."""
    for group in GROUPS.values():
        yield from group
