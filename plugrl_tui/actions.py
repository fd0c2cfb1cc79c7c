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

MONITOR: tuple[Action, ...] = (
    Action(
        id="monitor.detach",
        keys="d,escape",
        label="Detach",
        help="Go back; the run goes on.",
    ),
)

GROUPS: Mapping[str, tuple[Action, ...]] = {
    "app": APP,
    "runs": RUNS,
    "launch": LAUNCH,
    "monitor": MONITOR,
    "compare": COMPARE,
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
