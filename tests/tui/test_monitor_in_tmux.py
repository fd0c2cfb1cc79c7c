"""MONITOR in a real terminal of three sizes, on a server that really runs."""

import asyncio
import shlex
import sys

import pytest

from tests.server.conftest import Scripted, client, running
from tests.tui.terminal import Terminal, tmux_is_there

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not tmux_is_there(), reason="needs tmux: make system installs it"),
]


def look(url: str, home: str, size: tuple[int, int], words: list[str]) -> None:
    """Attach, wait until the run and the words are seen, leave with a key."""
    width, height = size
    command = ["env", "-u", "COLUMNS", "-u", "LINES", f"PLUGRL_HOME={home}"]
    command += ["TERM=xterm-256color", "LC_ALL=C.UTF-8"]
    command += [sys.executable, "-m", "plugrl_tui", "attach", url]
    line = f"{shlex.join(command)}; echo ended with $?; read _"
    with Terminal(line, width=width, height=height) as terminal:
        terminal.wait_for("RUNNING", "LIVE", *words)
        terminal.press("q")
        terminal.wait_for("ended with 0")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((80, 24), ["1 Infer queue", "2 Workers 1/1", "3 Discarded", "4 Learn", "6 Log"]),
        ((140, 45), ["5 return", "nothing to draw before the first learn"]),
        ((40, 10), ["40x10 is too small", "60x16 is enough"]),
    ],
    ids=str,
)
async def test_a_run_is_seen_and_left(size, words, own_home):
    async with running(Scripted()) as up, client(up.url) as peer:
        await peer.exchange([0, 1])
        await asyncio.to_thread(look, up.url, str(own_home), size, words)
        assert not up.task.done()
