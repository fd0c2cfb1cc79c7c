"""The person's own settings."""

import json

import pytest

from plugrl.errors import UsageError
from plugrl_tui.core import config
from plugrl_tui.core.config import AppConfig

ACTIONS, THEMES = ["monitor.stop", "monitor.save"], ["plugrl-dark", "plugrl-light"]


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "new" / "home"))


def put(data: object) -> None:
    config.config_path().parent.mkdir(parents=True)
    config.config_path().write_text(data if isinstance(data, str) else json.dumps(data))


def test_without_a_file_everything_is_as_usual():
    assert config.load(ACTIONS, THEMES) == AppConfig()


def test_what_is_saved_is_loaded():
    chosen = AppConfig(theme="plugrl-light", keys={"monitor.stop": "S"})
    config.save(chosen)
    assert config.load(ACTIONS, THEMES) == chosen


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("{", "correct it or delete it"),
        ({"them": "x"}, "unknown setting 'them', did you mean 'theme'"),
        ({"theme": "plugrl-lite"}, "unknown theme 'plugrl-lite', did you mean 'plugrl-light'"),
        ({"keys": {"monitor.stopp": "S"}}, "did you mean 'monitor.stop'"),
        ({"keys": {"monitor.stop": ""}}, "expected a key such as"),
        ({"keys": ["S"]}, "expected keys by the ids"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_s_name(data, sentence):
    put(data)
    with pytest.raises(UsageError, match=r"tui\.json") as wrong:
        config.load(ACTIONS, THEMES)
    assert sentence in str(wrong.value)
