"""Every exception that this library raises on purpose; flows and the app derive a few of their own.

    PlugRLError
    ├── UsageError                  a person asked for what can't be done; commands exit with 2
    │   ├── UnknownNameError        a uid or variant that is not registered
    │   ├── ConfigError             a configuration value out of its range (also a ValueError)
    │   ├── IncompatibleError       two choices that can't work together
    │   ├── RunExistsError          the experiment folder is taken (also a FileExistsError)
    │   └── CheckpointNotFoundError nothing to resume or to load (also a FileNotFoundError)
    ├── ProtocolError               a peer broke the wire protocol; its connection is closed
    │   ├── CodecError              bytes that are no legal msgpack message
    │   ├── InvalidMessageError     a legal map that is no legal message
    │   └── UnexpectedMessageError  a legal message that was not due
    ├── ConnectionLostError         the peer is gone, or never answered
    │   ├── ServerStoppedError      the server said that the run is over
    │   └── ServerResyncError       the server could not take what it was sent
    ├── EnvError                    an env broke its own contract
    ├── CheckpointError             a checkpoint that can't be used
    │   ├── CheckpointDamagedError  missing files, wrong hashes, unreadable data
    │   └── CheckpointMismatchError written for another policy, algorithm or architecture
    ├── RunRecordError              a record in a run's folder that can't be read
    ├── HistoryUnavailableError     what Prefect remembers of a run can't be had
    ├── LearnDivergedError          a learn's numbers became NaN or infinite
    └── LearnInterruptedError       a stop was asked for in the middle of a learn

A message says what was expected, what came, where, and the remedy if there is one.
"""

import difflib
from collections.abc import Iterable


class PlugRLError(Exception):
    """Base of everything that PlugRL raises on purpose."""


class UsageError(PlugRLError):
    """A person asked for something that can't be done; the message names the remedy."""


class UnknownNameError(UsageError):
    """A name that is not registered."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, beside: str = "") -> None:
        """Compose the sentence.

        Args:
            kind: what the name should have been, such as "algorithm".
            name: the name that is not known.
            known: the names that are.
            beside: in words, what else would have done.
        """
        self.kind = kind
        self.name = name
        self.known = sorted(known)
        nearest = difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f", did you mean {nearest[0]!r}?" if nearest else ""
        names = ", ".join(self.known) + (f"; or {beside}" if beside else "")
        super().__init__(f"unknown {kind} {name!r}{hint} (known: {names})")


class ConfigError(UsageError, ValueError):
    """A configuration value out of its range."""

    def __init__(self, reason: str, *, config: str = "", field: str = "") -> None:
        """Compose the sentence.

        Args:
            reason: what was expected and what came.
            config: name of the config's class.
            field: its field; commands name the flag in its place.
        """
        self.reason = reason
        self.config = config
        self.field = field
        super().__init__(f"{reason}, at {config}.{field}" if field else reason)


class IncompatibleError(UsageError):
    """Two choices that can't work together."""


class RunExistsError(UsageError, FileExistsError):
    """The experiment folder exists and neither resume nor overwrite was asked for."""


class CheckpointNotFoundError(UsageError, FileNotFoundError):
    """There is no valid checkpoint where one was asked for."""


class ProtocolError(PlugRLError):
    """A peer broke the wire protocol."""


class CodecError(ProtocolError):
    """Bytes that are no legal msgpack message."""


class InvalidMessageError(ProtocolError):
    """A decoded map that is no legal message, or one that does not fit the run."""


class UnexpectedMessageError(ProtocolError):
    """A legal message of another type than the one due."""


class ConnectionLostError(PlugRLError):
    """The peer is gone, or never answered."""


class ServerStoppedError(ConnectionLostError):
    """The server closed because the run is over; do not reconnect."""


class ServerResyncError(ConnectionLostError):
    """The server closed because it could not take what it was sent; its log says why."""


class EnvError(PlugRLError):
    """An env broke its own contract: a NaN, or an observation outside its space's shape."""


class CheckpointError(PlugRLError):
    """A checkpoint that can't be used."""


class CheckpointDamagedError(CheckpointError):
    """Missing files, wrong hashes or unreadable data."""


class CheckpointMismatchError(CheckpointError, UsageError):
    """Written for another policy, algorithm, variant or architecture."""


class RunRecordError(PlugRLError):
    """A file that tells of a run is damaged, or of a version that is not known here."""


class HistoryUnavailableError(PlugRLError):
    """What Prefect remembers of a run can't be had; the run's own folder can."""


class LearnDivergedError(PlugRLError):
    """A learn's numbers became NaN or infinite; the policy is lost, the last checkpoint is not."""


class LearnInterruptedError(PlugRLError):
    """A stop was asked for in the middle of a learn; the learn is rolled back."""
