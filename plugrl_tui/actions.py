"""Every action of the app, once: keys, footer, help, palette and documentation come from here."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
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
    _: KW_ONLY
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
    Action("app.help_page", "question_mark,f1", "Help", "Show all keys."),
    Action(
        "app.command_palette",
        "ctrl+p,colon",
        "Palette",
        "Find an action by its name.",
        in_palette=False,
    ),
    Action(
        "app.next_theme",
        "T",
        "Theme",
        "Change the colours: dark, light, or the terminal's own.",
        shown=False,
    ),
    Action(
        "app.leave", "q", "Leave", "Leave the app; runs go on, and the app says which.", shown=False
    ),
)


def _pane(number: int, name: str) -> Action:
    return Action(
        f"monitor.pane_{number}", str(number), "Pane", f"Go to pane {number}, {name}.", shown=False
    )


def _move(method: str, key: str, words: str) -> Action:
    return Action(f"list.{method}", key, "Move", f"Move {words}.", shown=False, in_palette=False)


LIST = (
    _move("up", "up", "one line up"),
    _move("down", "down", "one line down"),
    _move("page_up", "pageup", "a screen up"),
    _move("page_down", "pagedown", "a screen down"),
)

RUNS = (
    Action("runs.new", "n", "New", "Make up a new run."),
    Action("runs.watch", "enter", "Watch", "Watch the run under the cursor.", shown=False),
    Action("runs.copy", "N", "Copy", "Make up a run like the one under the cursor.", shown=False),
    Action("runs.warm", "w", "Warm", "Start another run from one of its checkpoints."),
    Action("runs.resume", "r", "Resume", "Go on with the run from its newest checkpoint."),
    Action("runs.mark", "space", "Mark", "Mark the run, to compare it with others."),
    Action("runs.compare", "c", "Compare", "Lay the marked runs over one another."),
    Action("runs.attach", "a", "Attach", "Watch a server anywhere, by its URL."),
    Action(
        "runs.find",
        "slash",
        "Filter",
        "Show only some runs: words, state:failed, algo:ppo, lr<1e-3.",
    ),
    Action(
        "runs.copy_command", "y", "Copy cmd", "Copy the command that began the run.", shown=False
    ),
    Action("runs.page", "o", "Page", "Open the run's page of Prefect in a browser.", shown=False),
    Action(
        "runs.delete",
        "delete,D",
        "Delete",
        "Delete the run's folder, once its name is typed; or forget one without a folder.",
        shown=False,
    ),
    Action(
        "runs.no_filter",
        "escape",
        "All",
        "Show all runs again, and take all marks away.",
        shown=False,
        in_palette=False,
    ),
)

LAUNCH = (
    Action("launch.start", "ctrl+r", "Start", "Check everything once more and start the run."),
    Action(
        "launch.edit",
        "enter",
        "Edit",
        "Type another value; a switch turns, a choice goes to the next.",
    ),
    Action(
        "launch.back", "left", "Previous", "Take the choice before.", shown=False, in_palette=False
    ),
    Action(
        "launch.forth",
        "right,space",
        "Next",
        "Take the next choice; open or close a group.",
        shown=False,
        in_palette=False,
    ),
    Action("launch.default", "u", "Default", "Take the default again."),
    Action(
        "launch.only_changed", "m", "Changed", "Show only what differs from the defaults, or all."
    ),
    Action("launch.find", "slash", "Find", "Show only fields with these words."),
    Action("launch.warm", "w", "Warm", "Start from a checkpoint of any run."),
    Action("launch.copy_command", "y", "Copy cmd", "Copy the command that starts this run."),
    Action(
        "launch.copy_client_command",
        "Y",
        "Copy client",
        "Copy the command that starts env clients for it.",
        shown=False,
    ),
    Action(
        "launch.next_error", "e", "Next error", "Go to the next field that is wrong.", shown=False
    ),
    Action(
        "launch.clear",
        "ctrl+d",
        "Anew",
        "Forget all changes and begin with the defaults.",
        shown=False,
    ),
    Action("launch.leave", "escape", "Back", "Go back; the draft is kept.", shown=False),
)

COMPARE = (
    Action("compare.next_metric", "n,right", "Metric", "Draw the next metric."),
    Action("compare.previous_metric", "N,left", "Previous", "Draw the metric before.", shown=False),
    Action("compare.toggle_axis", "x", "Axis", "Steps or time since its start along x."),
    Action("compare.smooth", "e", "Smooth", "Smooth the curves more, or not at all."),
    Action("compare.all_fields", "m", "Same too", "Show the fields that are the same, too."),
    Action("compare.export_csv", "s", "CSV", "Write the curves as a table to a CSV file."),
    Action("compare.export_svg", "S", "SVG", "Write the picture to an SVG file."),
    Action("compare.leave", "escape", "Back", "Go back."),
)

MONITOR = (
    _pane(1, "the infer queue"),
    _pane(2, "the workers"),
    _pane(3, "the discarded frames"),
    _pane(4, "the learn"),
    _pane(5, "the chart"),
    _pane(6, "the log"),
    Action("monitor.zoom", "z", "Zoom", "Give the pane the whole screen."),
    Action("monitor.save", "k", "Save", "Save a checkpoint now."),
    Action(
        "monitor.stop",
        "s",
        "Stop",
        "Stop the run: it finishes, saves and can be resumed; the app asks first.",
    ),
    Action("monitor.detach", "d", "Detach", "Go back; the run goes on."),
    Action(
        "monitor.freeze", "space", "Freeze", "Hold the screen still, to read or to copy from it."
    ),
    Action("monitor.retry", "R", "Reconnect", "Try to reach the server at once.", shown=False),
    Action(
        "monitor.copy_client_command",
        "y",
        "Copy client",
        "Copy the command that starts an env client for this run.",
        shown=False,
    ),
    Action(
        "monitor.back",
        "escape",
        "Back",
        "Leave the zoom; without one, go back.",
        shown=False,
        in_palette=False,
    ),
)

WORKERS = (Action("workers.sort", "o", "Order", "Sort by the next column."),)

CHART = (
    Action("chart.next_metric", "m", "Metric", "Draw the next metric."),
    Action("chart.previous_metric", "M", "Metric", "Draw the metric before.", shown=False),
    Action("chart.toggle_axis", "x", "Axis", "Steps or time along x."),
    Action(
        "chart.smooth",
        "e",
        "Smooth",
        "Average: not at all, over about 10 learns, or over about 100.",
    ),
    Action("chart.toggle_log", "l", "Log", "A logarithmic y axis, or a plain one."),
    Action(
        "chart.left",
        "left",
        "Cursor",
        "Move the cursor to the left; the border reads the value.",
        shown=False,
        in_palette=False,
    ),
    Action(
        "chart.right",
        "right",
        "Cursor",
        "Move the cursor to the right.",
        shown=False,
        in_palette=False,
    ),
    Action("chart.no_cursor", "c", "Cursor", "Take the cursor away.", shown=False),
)

LOG = (
    Action("log.level", "v", "Level", "Hide lines below the next level."),
    Action("log.search", "slash", "Search", "Show only lines with some words."),
    Action("log.follow", "f,end", "Follow", "Go to the end, and stay there."),
)

STOP = (
    Action("stop.confirm", "enter", "Stop", "Stop the run, gracefully."),
    Action(
        "stop.force",
        "F",
        "Force",
        "Kill the run's processes; offered only after a graceful stop has failed.",
    ),
    Action("stop.close", "escape", "Back", "Close; a stop asked for goes on."),
)

PICKER = (
    Action("picker.take", "enter", "Take", "Start from the checkpoint under the cursor."),
    Action("picker.type", "slash", "Path", "Type the path of a step folder."),
    Action("picker.close", "escape", "Back", "Take none."),
)

STARTING = (
    Action("starting.watch", "enter", "Watch", "Watch the run at once, as far as it is."),
    Action("starting.close", "escape", "Back", "Go back; the run goes on starting."),
)

EDITOR = (
    Action(
        "editor.cancel", "escape", "Cancel", "Leave the line; what was stays.", in_palette=False
    ),
)

BOX = (Action("box.close", "escape", "Back", "Close this box."),)

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
    "editor": EDITOR,
    "box": BOX,
}


TITLES: Mapping[str, str] = {
    "app": "Everywhere",
    "runs": "RUNS",
    "launch": "LAUNCH",
    "monitor": "MONITOR",
    "compare": "COMPARE",
    "list": "In a list",
    "picker": "Choosing a checkpoint",
    "starting": "While a run starts",
    "workers": "In the workers",
    "chart": "In the chart",
    "log": "In the log",
    "stop": "When stopping",
    "editor": "In a line to type in",
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


def tables() -> str:
    """The actions of all groups as tables in Markdown; ``docs/tui.md`` holds them."""
    return "\n\n".join(f"### {TITLES[name]}\n\n{_table(group)}" for name, group in GROUPS.items())


def every_action() -> Iterator[Action]:
    """All actions of all groups."""
    for group in GROUPS.values():
        yield from group


def _table(actions: Iterable[Action]) -> str:
    rows = [f"| `{a.id}` | {a.keys.replace(',', ', ')} | {a.help} |" for a in actions]
    return "\n".join(["| id | keys | what |", "|---|---|---|", *rows])
