"""What a person has chosen for the app: colours and keys, in one small file.

``tui.json`` in the user's config folder, or below ``PLUGRL_HOME`` where that is set:
``{"theme": "plugrl-light", "keys": {"monitor.stop": "S"}}``.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plugrl.errors import ConfigError, RunRecordError, UnknownNameError, UsageError
from plugrl.runs.files import read_json, write_json
from plugrl.runs.home import HOME_VARIABLE, home

FILE_NAME = "tui.json"
DEFAULT_THEME = "plugrl-dark"


@dataclass(frozen=True, kw_only=True, slots=True)
class AppConfig:
    """What is in the file."""

    theme: str = DEFAULT_THEME
    """The name of a theme."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys by the id of an action, several separated by commas."""


def config_path() -> Path:
    """Where the file is; it may not exist."""
    if os.environ.get(HOME_VARIABLE):
        return home() / FILE_NAME
    import platformdirs

    return platformdirs.user_config_path("plugrl", appauthor=False) / FILE_NAME


def load(known_actions: Iterable[str], known_themes: Iterable[str]) -> AppConfig:
    """Read the file.

    Raises:
        UsageError: it is no JSON, or names what there is not; the message says where.
    """
    path = config_path()
    try:
        data = read_json(path)
    except FileNotFoundError:
        return AppConfig()
    except RunRecordError as error:
        raise UsageError(f"{error}; correct it or delete it") from error
    try:
        return _checked(data, list(known_actions), list(known_themes))
    except UsageError as error:
        raise UsageError(f"{error}, in {path}") from error


def save(config: AppConfig) -> None:
    """Write the file.

    Raises:
        OSError: it can't be written; the old one stands.
    """
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(config))


def _checked(data: Mapping[str, Any], actions: list[str], themes: list[str]) -> AppConfig:
    for name in data:
        if name not in {"theme", "keys"}:
            raise UnknownNameError("setting", name, ["theme", "keys"])
    theme, keys = data.get("theme", DEFAULT_THEME), data.get("keys", {})
    if theme not in themes:
        raise UnknownNameError("theme", str(theme), themes)
    if not isinstance(keys, dict):
        raise ConfigError(f"expected keys by the ids of actions, got {json.dumps(keys)}")
    for action, key in keys.items():
        if action not in actions:
            raise UnknownNameError("action", action, actions)
        if not isinstance(key, str) or not key.strip():
            raise ConfigError(f"expected a key such as 'ctrl+s' for {action!r}, got {key!r}")
    return AppConfig(theme=theme, keys=dict(keys))
