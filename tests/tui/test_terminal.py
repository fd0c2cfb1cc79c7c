"""The terminal that other tests look at."""

import pytest

from tests.tui.terminal import Terminal, tmux_is_there

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not tmux_is_there(), reason="needs tmux: make system installs it"),
]


def test_what_an_ended_command_has_written_stays_from_the_first_line_on():
    with Terminal("read _; echo first; echo second", width=40, height=10) as terminal:
        terminal.press("x", "Enter")
        terminal.wait_for("second")
        ended = "the command is over"
        terminal.until(
            lambda: terminal._tmux("display", "-p", "#{pane_current_command}") == "cat\n", ended
        )
        assert terminal.screen().splitlines()[:3] == ["x", "first", "second"]
