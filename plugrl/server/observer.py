"""Who is told of what is rare in a loop; the run's records are."""

from typing import TYPE_CHECKING

from plugrl.server.worker import Worker

if TYPE_CHECKING:
    from plugrl.server.loop import StopReason


class LoopObserver:
    """Hears nothing; subclasses do. Every call comes on the event loop and must return at once."""

    def worker_joined(self, worker: Worker) -> None:
        """``worker`` is waited for from now on."""

    def worker_lost(self, worker: Worker) -> None:
        """``worker`` is gone."""

    def stopping(self) -> None:
        """Somebody asked the loop to stop; told once."""

    def concluded(self, reason: "StopReason") -> None:
        """The loop has ended in peace, and what there was is on disk."""

    def leaving(self) -> None:
        """The process is about to leave at once, on a second signal."""
