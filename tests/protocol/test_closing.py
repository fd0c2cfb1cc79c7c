"""Close codes and reasons are part of the wire: word for word."""

from plugrl.protocol import closing


def test_codes_and_reasons_are_those_of_the_protocol() -> None:
    assert tuple(closing.SERVER_STOP) == (1001, "plugrl-server-stop")
    assert tuple(closing.RESYNC) == (1001, "plugrl-server-resync")
    assert tuple(closing.FEEDBACK_TIMEOUT) == (1001, "Feedback timeout")
    assert tuple(closing.INTERNAL_ERROR) == (1011, "Internal server error.")
    assert tuple(closing.FINISHED) == (1000, "")
