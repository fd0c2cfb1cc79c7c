"""What a person has set for Prefect: in the environment, or in a profile of theirs.

Prefect's own reading of its settings takes a second to import; these few are read as it does.
"""

import contextlib
import os
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from plugrl.runs.home import typed_path


class Setting(NamedTuple):
    """A setting, and where it is from."""

    value: str
    origin: str
    """For people."""


def setting(name: str) -> Setting | None:
    """The value of a setting of Prefect's, such as ``PREFECT_API_URL``.

    One that is set to nothing in the environment is not set, whatever the profile says.
    """
    given = os.environ.get(name)
    if given is not None:
        return Setting(given, name) if given else None
    profile, values = _active_profile()
    value = values.get(name)
    return Setting(str(value), f"{name} of your Prefect profile {profile!r}") if value else None


def _active_profile() -> tuple[str, dict[str, Any]]:
    """The name and the settings of the profile in use; no settings where there is none."""
    home = typed_path(os.environ.get("PREFECT_HOME") or "~/.prefect")
    path = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    # Whoever has broken the file hears of it from Prefect.
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        profiles = tomllib.loads(path.read_text("utf-8"))
        name = os.environ.get("PREFECT_PROFILE") or profiles.get("active", "")
        values = profiles.get("profiles", {}).get(name, {})
        if isinstance(values, dict):
            return str(name), values
    return "", {}
