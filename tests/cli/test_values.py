import pytest

from plugrl.cli.parsing import Flags
from plugrl.config.gymnasium import GymnasiumEnvConfig


def test_help_is_one_flow_without_markup(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        Flags("prog", "").add_config("env", GymnasiumEnvConfig()).parse(["--help"])
    out = capsys.readouterr().out
    assert "or [-1, 1] rescaled to them. The learner" in out
    assert "``" not in out
    assert "--env.render-mode none|STR" in out
