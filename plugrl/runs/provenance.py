"""Who asked for a run and who answers for it; handed from a supervisor to its server."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SECRET = "--api-key"  # noqa: S105 -- the flag, not the key


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The process that answers for a run, beside the server."""

    pid: int
    pid_started: float
    """When it began; see ``plugrl.runs.liveness``."""
    pid_birth: str | None = None
    attempt: int = 1
    """The number of the server it starts now."""
    flow_run_id: str | None = None
    flow_run_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a run comes from."""

    argv: tuple[str, ...] = ()
    """The command that a person typed."""
    clients: Mapping[str, Any] | None = None
    """The config of the env clients that are started beside the server, as plain JSON."""
    owner: Owner | None = None
    """None where the server answers for itself."""

    def to_json(self) -> str:
        """For a child's argument."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """What ``to_json`` made."""
        data = json.loads(text)
        owner = data.pop("owner")
        data["argv"] = tuple(data["argv"])
        return cls(**data, owner=None if owner is None else Owner(**owner))


def public(argv: Sequence[str]) -> tuple[str, ...]:
    """A command without its key, for files and for people to look at."""
    kept: list[str] = []
    for argument in argv:
        if kept and kept[-1] == SECRET:
            kept.append("KEY")
        elif argument.startswith(f"{SECRET}="):
            kept.append(f"{SECRET}=KEY")
        else:
            kept.append(argument)
    return tuple(kept)
