"""The app: opens screens, keeps the theme and the keys, and leaves without ending any run.

What is not needed for the first picture is imported when it is.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen

from plugrl.errors import PlugRLError
from plugrl_tui import themes
from plugrl_tui.actions import GROUPS, bindings, every_action
from plugrl_tui.core import config
from plugrl_tui.core.config import AppConfig
from plugrl_tui.screens.base import RoomScreen, make_screen
from plugrl_tui.widgets.pane import Pane

if TYPE_CHECKING:
    from plugrl_tui.core.launcher import Launched

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """How the app begins."""

    screen: str = "runs"
    """The screen to show first; RUNS comes when it is left."""
    options: dict[str, Any] | None = None
    """The arguments of that screen."""
    ascii_only: bool = False
    imports: tuple[str, ...] = ()
    """Modules that register more names, for new runs."""
    theme: str | None = None
    """A theme in place of the person's own."""


class PlugRLApp(App[None]):
    """``plugrl-tui``."""

    TITLE = "plugrl"
    DEFAULT_MODE = "first"
    ALLOW_SELECT = False
    """Terminals select by themselves; Textual's own way fails where a widget has just gone."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]

    def __init__(self, start: Start | None = None) -> None:
        """Begin as ``start`` says."""
        super().__init__()
        self._start = start or Start()
        self.imports = self._start.imports
        ascii_only = self._start.ascii_only or not themes.terminal_takes_unicode()
        self._ascii = themes.AsciiFilter() if ascii_only else None
        self._failed = False
        self.launched: list[Launched] = []
        """What was started from here."""
        self._config = AppConfig()
        self._wrong: list[Exception] = []
        """What is to be told once there is a screen."""
        self.animation_level = "none"
        themes.register(self)
        # Settings come before the first screen, which would else be styled twice.
        try:
            self._config = config.load((a.id for a in every_action()), self.available_themes)
        except PlugRLError as error:
            self._wrong.append(error)
        self.theme = self._start.theme or self._config.theme
        self.add_mode(self.DEFAULT_MODE, self._first_screen)
        self.add_mode("runs", partial(make_screen, "runs"))

    def _first_screen(self) -> Screen[Any]:
        """The screen that the app begins with, RUNS where that can't be opened."""
        try:
            return make_screen(self._start.screen, **(self._start.options or {}))
        except (PlugRLError, OSError) as error:
            self._wrong.append(error)
            return make_screen("runs")

    def on_mount(self) -> None:
        """Take the person's keys, and tell what is wrong."""
        self.set_keymap(dict(self._config.keys))
        for error in self._wrong:
            self.complain(error)

    def open(self, name: str, **options: Any) -> None:
        """Show another screen above this one; ``escape`` comes back.

        What can't be opened, such as a run that is not there, is told in a box.
        """
        try:
            screen = make_screen(name, **options)
        except (PlugRLError, OSError) as error:
            self.complain(error)
        else:
            self.push_screen(screen)

    def open_monitor(self, target: str, *, api_key: str | None = None) -> None:
        """Watch a run: its name, its folder, or its server's URL."""
        from plugrl_tui.core.feed import Access

        self.open("monitor", target=target, access=Access(api_key=api_key))

    def complain(self, error: Exception | str) -> None:
        """Say in a box what can't be done."""
        from plugrl_tui.modals.error import ErrorBox

        self.push_screen(ErrorBox(error))

    def ask_attach(self) -> None:
        """Ask for a server, and watch it."""
        from plugrl_tui.modals.attach import AttachBox, Attachment

        def attach(attachment: Attachment | None) -> None:
            if attachment is not None:
                self.open_monitor(attachment.url, api_key=attachment.api_key)

        self.push_screen(AttachBox(), attach)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Say something beside the screen, once as long as it is seen.

        It is never markup, as names and errors have brackets.
        """
        del markup
        if any((said.message, said.title) == (message, title) for said in self._notifications):
            return
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    def get_line_filters(self) -> list[LineFilter]:
        """Textual's filters, and ours for ``--ascii`` after them."""
        filters = list(super().get_line_filters())
        return [*filters, self._ascii] if self._ascii is not None else filters

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """What the palette offers: the actions of the screen, of its panes, and of the app."""
        for group in self._groups_of(screen):
            for action in GROUPS[group]:
                target = self._target(screen, group)
                if action.in_palette and target is not None:
                    run = partial(self._run, action.method, target)
                    yield SystemCommand(f"{action.label}: {group}", action.help, run)

    def action_command_palette(self) -> None:
        """Find an action by its name."""
        from plugrl_tui.modals.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def action_help_page(self) -> None:
        """Show the keys of this screen."""
        from plugrl_tui.modals.help import HelpBox

        if not isinstance(self.screen, HelpBox):
            self.push_screen(HelpBox(self._groups_of(self.screen), dict(self._config.keys)))

    def action_help_quit(self) -> None:
        """Ctrl+C ends nothing: it says how to leave."""
        self.notify("q leaves the app; runs go on", title="ctrl+c ends nothing here")

    def action_next_theme(self) -> None:
        """Change the colours, and keep that."""
        self.theme = themes.next_theme(self.theme)
        self._config = replace(self._config, theme=self.theme)
        try:
            config.save(self._config)
        except OSError as error:
            self.notify(f"{self.theme}, but it can't be kept: {error}", severity="warning")
        else:
            self.notify(self.theme, title="theme")

    def action_leave(self) -> None:
        """End the app; say which runs go on."""
        from plugrl_tui.core.going_on import going_on

        self.exit(message=_verbatim(going_on(self.launched)))

    def _groups_of(self, screen: Screen[Any]) -> list[str]:
        if not isinstance(screen, RoomScreen):
            return ["app"]
        return [screen.ACTION_GROUP, *screen.PANE_GROUPS, "app"]

    def _target(self, screen: Screen[Any], group: str) -> Any:
        if group == "app":
            return self
        if isinstance(screen, RoomScreen) and group == screen.ACTION_GROUP:
            return screen
        return next((pane for pane in screen.query(Pane) if group == pane.GROUP), None)

    def _run(self, method: str, target: Any) -> None:
        perform: Callable[[], Any] = getattr(target, f"action_{method}")
        self.call_later(perform)

    def _handle_exception(self, error: Exception) -> None:
        # Textual would print a traceback over the person's terminal. Tests want exactly that.
        if self.is_headless:
            super()._handle_exception(error)
            return
        from plugrl_tui.core.going_on import going_on

        logger.critical("the app failed", exc_info=error)
        if self._failed:
            return  # of what fails on the way out, Textual would tell too
        self._failed = True
        self.exit(
            return_code=1,
            message=_verbatim(
                f"plugrl-tui failed: {type(error).__name__}: {error}; its log has the details. "
                f"{going_on(self.launched)}"
            ),
        )


def _verbatim(words: str) -> Text:
    """For the terminal that the app gives back: brackets in a name are no markup."""
    return Text(words)
