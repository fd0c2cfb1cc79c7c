"""Why a connection is closed: WebSocket close codes with their reasons, word for word."""

from typing import NamedTuple


class Closing(NamedTuple):
    """What a closing handshake carries."""

    code: int
    reason: str


SERVER_STOP = Closing(1001, "plugrl-server-stop")
"""The run is finished: the client ends with success and does not reconnect."""
RESYNC = Closing(1001, "plugrl-server-resync")
"""The client broke the protocol: it may reconnect and start over with an infer."""
FEEDBACK_TIMEOUT = Closing(1001, "Feedback timeout")
"""No feedback followed an action in time: the client may reconnect."""
HELD_TOO_MUCH = Closing(1008, "observations of open actions exceed limits.max_held_bytes")
"""The client has asked for more and more actions whose feedback never came: it may reconnect."""
INTERNAL_ERROR = Closing(1011, "Internal server error.")
"""The server failed."""
FINISHED = Closing(1000, "")
"""The client has done what it came for."""
