from plugrl.server.signals import ECHO_S, EchoFilter


def test_a_signal_soon_after_the_first_is_the_same_and_a_later_one_is_not():
    now = 100.0
    signals = EchoFilter(lambda: now)
    assert not signals.is_echo()
    now += ECHO_S / 2
    assert signals.is_echo()
    now += ECHO_S
    assert not signals.is_echo()
