"""SIGINT, SIGTERM and SIGHUP as an exception, raised where it does no harm."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType


class StopRequestedError(BaseException):
    """Such a signal came; not an Exception, so that nothing on the way up takes it."""


class _State:
    """Whether a stop may be raised now, and the one that waits.

    Not attributes of a class: each assignment to one empties the interpreter's caches of it.
    """

    __slots__ = ("pending", "uninterrupted")

    def __init__(self) -> None:
        self.uninterrupted = False
        self.pending: StopRequestedError | None = None


_state = _State()


class Uninterrupted:
    """A stretch of the main thread that a stop does not cut in two: it is raised at its end."""

    def __enter__(self) -> None:
        _state.uninterrupted = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _state.uninterrupted = False
        if _state.pending is not None:
            _raise_pending(error)


class Interruptible:
    """A wait inside an ``Uninterrupted`` stretch, in which a stop is raised at once."""

    def __enter__(self) -> None:
        self._outer, _state.uninterrupted = _state.uninterrupted, False
        if _state.pending is not None:
            _raise_pending(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _state.uninterrupted = self._outer


@contextlib.contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise ``StopRequestedError`` in the main thread at the first SIGINT, SIGTERM or SIGHUP.

    What is left to do inside the block is then not cut short by SIGTERM or SIGHUP; a second SIGINT
    ends the process at once. A SIGHUP that ``nohup`` has ignored stays so.
    """
    hung_up = getattr(signal, "SIGHUP", signal.SIGTERM)
    is_heard = signal.getsignal(hung_up) is not signal.SIG_IGN
    ends = {signal.SIGTERM, hung_up} if is_heard else {signal.SIGTERM}

    def stop(number: int, frame: FrameType | None) -> None:
        # A parent's SIGTERM may follow the terminal's SIGINT. Not SIG_IGN: Python would complain
        # of one that is here already.
        for each in ends:
            signal.signal(each, _take_no_notice)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        request = StopRequestedError(f"received {signal.Signals(number).name}")
        if not _state.uninterrupted:
            raise request
        _state.pending = request

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, *ends)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _take_no_notice(number: int, frame: FrameType | None) -> None:
    """Handle a signal by doing nothing."""


def _raise_pending(cause: BaseException | None) -> None:
    stop, _state.pending = _state.pending, None
    assert stop is not None
    raise stop from cause
