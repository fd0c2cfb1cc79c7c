import pytest

from plugrl.client.backoff import Backoff
from plugrl.config.client import ClientConfig
from plugrl.errors import ConnectionLostError, IncompatibleError, ServerResyncError

LOST = ConnectionLostError("no server at 127.0.0.1:1: refused")
REFUSED = ServerResyncError("the server closed the connection (1001 plugrl-server-resync)")


def pauses(backoff, count):
    return [backoff.next_pause(LOST) for _ in range(count)]


def test_pauses_double_from_half_a_second_to_fifteen_with_jitter_upwards():
    for _ in range(50):
        first, second, third, *_, last = pauses(Backoff(ClientConfig()), 12)
        assert 0.5 <= first <= 0.75
        assert 1.0 <= second <= 1.5
        assert 2.0 <= third <= 3.0
        assert 10.0 <= last <= 15.0


def test_two_clients_do_not_pause_alike():
    assert pauses(Backoff(ClientConfig()), 5) != pauses(Backoff(ClientConfig()), 5)


def test_after_a_reset_it_begins_with_the_shortest_pause():
    backoff = Backoff(ClientConfig())
    pauses(backoff, 6)
    backoff.reset()
    assert backoff.next_pause(LOST) <= 0.75


def test_the_last_attempt_ends_in_a_sentence_with_its_reason():
    backoff = Backoff(ClientConfig(retry_limit=3))
    pauses(backoff, 2)
    with pytest.raises(
        ConnectionLostError,
        match=r"gave up after 3 attempts in a row, the last one: no server at 127.0.0.1:1: refused",
    ):
        backoff.next_pause(LOST)


def test_a_single_attempt_is_no_row_of_them():
    with pytest.raises(ConnectionLostError, match=r"^gave up after one attempt: no server"):
        Backoff(ClientConfig(retry_limit=1)).next_pause(LOST)


def test_the_fifth_resync_in_a_row_is_the_last_and_says_where_the_reason_is():
    backoff = Backoff(ClientConfig())
    for _ in range(4):
        backoff.next_pause(REFUSED)
    with pytest.raises(
        IncompatibleError,
        match=r"gave up after 5 .* keeps refusing .* its log says why; .*plugrl-server-resync",
    ):
        backoff.next_pause(REFUSED)


@pytest.mark.parametrize("between", [Backoff.reset, lambda backoff: backoff.next_pause(LOST)])
def test_resyncs_with_an_action_or_another_end_in_between_are_not_in_a_row(between):
    backoff = Backoff(ClientConfig())
    for _ in range(3):
        for _ in range(4):
            backoff.next_pause(REFUSED)
        between(backoff)


def test_a_first_pause_above_the_longest_is_kept():
    backoff = Backoff(ClientConfig(retry_first_s=30.0, retry_max_s=1.0))
    assert 20.0 <= backoff.next_pause(LOST) <= 30.0


def test_thousands_of_attempts_do_not_overflow():
    backoff = Backoff(ClientConfig(retry_limit=5000))
    assert max(pauses(backoff, 4000)) <= 15.0
