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


LIST = _moves("list")

RUNS = (
    Action(
        id="runs.new",
        keys="n",
        label="New",
        help="Make up a new run.",
    ),
    Action(
        id="runs.watch",
        keys="enter",
        label="Watch",
        help="Watch the run under the cursor.",
        shown=False,
    ),
    Action(
        id="runs.copy",
        keys="N",
        label="Copy",
        help="Make up a run like the one under the cursor.",
        shown=False,
    ),
    Action(
        id="runs.warm",
        keys="w",
        label="Warm",
        help="Start another run from one of its checkpoints.",
    ),
    Action(
        id="runs.resume",
        keys="r",
        label="Resume",
        help="Go on with the run from its newest checkpoint.",
    ),
    Action(
        id="runs.mark",
        keys="space",
        label="Mark",
        help="Mark the run, to compare it with others.",
    ),
    Action(
        id="runs.compare",
        keys="c",
        label="Compare",
        help="Lay the marked runs over one another.",
    ),
    Action(
        id="runs.attach",
        keys="a",
        label="Attach",
        help="Watch a server anywhere, by its URL.",
    ),
    Action(
        id="runs.find",
        keys="slash",
        label="Filter",
        help="Show only some runs: words, state:failed, algo:ppo, lr<1e-3.",
    ),
    Action(
        id="runs.copy_command",
        keys="y",
        label="Copy cmd",
        help="Copy the command that began the run.",
        shown=False,
    ),
    Action(
        id="runs.delete",
        keys="delete,D",
        label="Delete",
        help="Delete the run's folder; its name has to be typed first.",
        shown=False,
    ),
    Action(
        id="runs.no_filter",
        keys="escape",
        label="All",
        help="Show all runs again, and take all marks away.",
        shown=False,
        in_palette=False,
    ),
)

LAUNCH = (
    Action(
        id="launch.start",
        keys="ctrl+r",
        label="Start",
        help="Check everything once more and start the run.",
    ),
    Action(
        id="launch.edit",
        keys="enter",
        label="Edit",
        help="Type another value; a switch turns, a choice goes to the next.",
    ),
    Action(
        id="launch.back",
        keys="left",
        label="Previous",
        help="Take the choice before.",
        shown=False,
        in_palette=False,
    ),
    Action(
        id="launch.forth",
        keys="right,space",
        label="Next",
        help="Take the next choice; open or close a group.",
        shown=False,
        in_palette=False,
    ),
    Action(
        id="launch.default",
        keys="u",
        label="Default",
        help="Take the default again.",
    ),
    Action(
        id="launch.only_changed",
        keys="m",
        label="Changed",
        help="Show only what differs from the defaults, or all.",
    ),
    Action(
        id="launch.find",
        keys="slash",
        label="Find",
        help="Show only fields with these words.",
    ),
    Action(
        id="launch.warm",
        keys="w",
        label="Warm",
        help="Start from a checkpoint of any run.",
    ),
    Action(
        id="launch.copy_command",
        keys="y",
        label="Copy cmd",
        help="Copy the command that starts this run.",
    ),
    Action(
        id="launch.copy_client_command",
        keys="Y",
        label="Copy client",
        help="Copy the command that starts env clients for it.",
        shown=False,
    ),
    Action(
        id="launch.next_error",
        keys="e",
        label="Next error",
        help="Go to the next field that is wrong.",
        shown=False,
    ),
    Action(
        id="launch.clear",
        keys="ctrl+d",
        label="Anew",
        help="Forget all changes and begin with the defaults.",
        shown=False,
    ),
    Action(
        id="launch.leave",
        keys="escape",
        label="Back",
        help="Go back; the draft is kept.",
        shown=False,
    ),
)

COMPARE = (
    Action(
        id="compare.next_metric",
        keys="n,right",
        label="Metric",
        help="Draw the next metric.",
    ),
    Action(
        id="compare.previous_metric",
        keys="N,left",
        label="Previous",
        help="Draw the metric before.",
        shown=False,
    ),
    Action(
        id="compare.toggle_axis",
        keys="x",
        label="Axis",
        help="Steps or time since its start along x.",
    ),
    Action(
        id="compare.smooth",
        keys="e",
        label="Smooth",
        help="Smooth the curves more, or not at all.",
    ),
    Action(
        id="compare.all_fields",
        keys="m",
        label="Same too",
        help="Show the fields that are the same, too.",
    ),
    Action(
        id="compare.export_csv",
        keys="s",
        label="CSV",
        help="Write the curves as a table to a CSV file.",
    ),
    Action(
        id="compare.export_svg",
        keys="S",
        label="SVG",
        help="Write the picture to an SVG file.",
    ),
    Action(
        id="compare.leave",
        keys="escape",
        label="Back",
        help="Go back.",
    ),
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

PICKER = (
    Action(
        id="picker.take",
        keys="enter",
        label="Take",
        help="Start from the checkpoint under the cursor.",
    ),
    Action(
        id="picker.type",
        keys="slash",
        label="Path",
        help="Type the path of a step folder.",
    ),
    Action(
        id="picker.close",
        keys="escape",
        label="Back",
        help="Take none.",
    ),
)

STARTING = (
    Action(
        id="starting.watch",
        keys="enter",
        label="Watch",
        help="Watch the run at once, as far as it is.",
    ),
    Action(
        id="starting.close",
        keys="escape",
        label="Back",
        help="Go back; the run goes on starting.",
    ),
)

BOX = (Action(id="box.close", keys="escape", label="Back", help="Close this box."),)

GROUPS: Mapping[str, tuple[Action, ...]] = {
    "app": APP,
    "runs": RUNS,
    "launch": LAUNCH,
    "monitor": MONITOR,
    "compare": COMPARE,
    "list": LIST,
    "picker": PICKER,
    "starting": STARTING,
    "workers": WORKERS,
    "chart": CHART,
    "log": LOG,
    "stop": STOP,
    "box": BOX,
}


TITLES: Mapping[str, str] = {
    "app": "Everywhere",
    "runs": "RUNS",
    "launch": "LAUNCH",
    "monitor": "MONITOR",
    "compare": "COMPARE",
    "workers": "In the workers",
    "chart": "In the chart",
    "log": "In the log",
    "stop": "When stopping",
    "box": "In a box",
}
"""What the help calls each group."""


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
