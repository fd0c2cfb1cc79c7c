import signal

import pytest

from plugrl.server.signals import ECHO_S, EchoFilter, stop_signals


def test_a_signal_soon_after_the_first_is_the_same_and_a_later_one_is_not():
    now = 100.0
    signals = EchoFilter(lambda: now)
    assert not signals.is_echo()
    now += ECHO_S / 2
    assert signals.is_echo()
    now += ECHO_S
    assert not signals.is_echo()


@pytest.mark.parametrize(("begun_with", "heard"), [(signal.SIG_DFL, True), (signal.SIG_IGN, False)])
def test_a_terminal_that_is_closed_asks_for_a_stop_unless_nohup_was_there(begun_with, heard):
    before = signal.signal(signal.SIGHUP, begun_with)
    try:
        assert (signal.SIGHUP in stop_signals()) is heard
    finally:
        signal.signal(signal.SIGHUP, before)
