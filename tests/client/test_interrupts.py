import os
import signal

import pytest

from plugrl.client.interrupts import (
    Interruptible,
    StopRequestedError,
    Uninterrupted,
    stop_on_signals,
)


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_raised_as_an_exception_that_names_it(number):
    with pytest.raises(StopRequestedError, match=f"received {number.name}"), stop_on_signals():
        send(number)


def test_a_terminal_that_is_closed_is_no_reason_to_stop_under_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals():
            send(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_no_handler_of_ordinary_errors_takes_it():
    assert not issubclass(StopRequestedError, Exception)


def test_the_clean_up_after_it_is_not_cut_short_by_sigterm():
    cleaned = []
    with pytest.raises(StopRequestedError), stop_on_signals():  # noqa: PT012
        try:
            send(signal.SIGINT)
        finally:
            send(signal.SIGTERM)
            cleaned.append(True)
    assert cleaned


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_stretch_that_must_not_be_cut_is_finished_first():
    finished = []
    with pytest.raises(StopRequestedError, match="SIGTERM"), stop_on_signals():  # noqa: PT012
        with Uninterrupted():
            send(signal.SIGTERM)
            finished.append(True)
        finished.append(False)
    assert finished == [True]


def test_an_error_in_such_a_stretch_is_kept_as_the_cause():
    with pytest.raises(StopRequestedError) as info, stop_on_signals(), Uninterrupted():  # noqa: PT012
        send(signal.SIGTERM)
        raise OSError("lost")
    assert isinstance(info.value.__cause__, OSError)


def test_a_wait_inside_such_a_stretch_is_ended_at_once():
    finished = []
    with pytest.raises(StopRequestedError), stop_on_signals(), Uninterrupted():  # noqa: PT012
        with Interruptible():
            send(signal.SIGTERM)
            finished.append(True)
        finished.append(True)
    assert finished == []


def test_such_a_wait_does_not_begin_after_a_stop():
    waited = []
    with pytest.raises(StopRequestedError), stop_on_signals(), Uninterrupted():  # noqa: PT012
        send(signal.SIGTERM)
        with Interruptible():
            waited.append(True)
    assert waited == []


def test_after_such_a_wait_the_stretch_goes_on_uninterrupted():
    finished = []
    with pytest.raises(StopRequestedError), stop_on_signals(), Uninterrupted():  # noqa: PT012
        with Interruptible():
            pass
        send(signal.SIGTERM)
        finished.append(True)
    assert finished == [True]


def test_without_a_signal_it_changes_nothing():
    with pytest.raises(ZeroDivisionError), stop_on_signals(), Uninterrupted():
        raise ZeroDivisionError
    with Uninterrupted():
        pass
