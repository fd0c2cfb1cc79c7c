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
        return Path(moved).expanduser().absolute()
    return platformdirs.user_data_path("plugrl", appauthor=False)
