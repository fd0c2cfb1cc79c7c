"""A real terminal: tmux, typed into and read."""

import shutil
import subprocess
import time
import uuid
from collections.abc import Callable
from types import TracebackType

DEADLINE_S = 60.0
POLL_S = 0.1


def tmux_is_there() -> bool:
    """Whether there is a tmux to test in."""
    return shutil.which("tmux") is not None


class Terminal:
    """One command in a tmux of its own, which ends with the test."""

    def __init__(self, command: str, *, width: int, height: int) -> None:
        """Start ``command``, a shell's.

        What it has written stays when it ends, as it does above the prompt of a person's shell. A
        pane that dies would not do: tmux moves its lines up to say so, and the first is gone.
        """
        self._socket = f"plugrl-{uuid.uuid4().hex[:12]}"
        size = ("-x", str(width), "-y", str(height))
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, f"{command}; exec cat")
        self._tmux("resize-window", *size)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tmux("kill-server")

    def press(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        self._tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """Paste, as a terminal does: in brackets."""
        self._tmux("set-buffer", "--", text)
        self._tmux("paste-buffer", "-p")

    def screen(self) -> str:
        """What is seen."""
        return self._tmux("capture-pane", "-p")

    def wait_for(self, *texts: str) -> str:
        """The screen, once all of these are seen."""
        self.until(lambda: all(text in self.screen() for text in texts), " and ".join(texts))
        return self.screen()

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, f"never: {what}\n{self.screen()}"
            time.sleep(POLL_S)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._socket, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)
        return done.stdout
