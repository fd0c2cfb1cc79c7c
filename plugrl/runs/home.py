"""Where PlugRL keeps what belongs to the user and not to one run."""

import os
from pathlib import Path

import platformdirs

HOME_VARIABLE = "PLUGRL_HOME"
"""Environment variable that moves the folder."""


def home() -> Path:
    """The user's folder for the catalogue of runs and the local Prefect API; it may not exist."""
    moved = os.environ.get(HOME_VARIABLE)
    if moved:
        return typed_path(moved).absolute()
    return platformdirs.user_data_path("plugrl", appauthor=False)


def typed_path(text: str) -> Path:
    """A path as a person types it, its ``~`` filled in; that of no user stays as it is."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return path
