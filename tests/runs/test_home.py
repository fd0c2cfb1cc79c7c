from pathlib import Path

import pytest

from plugrl.errors import UnknownNameError
from plugrl.runs.catalog import find_run
from plugrl.runs.home import typed_path


def test_a_typed_path_has_its_tilde_filled_in_where_it_is_somebodys(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert typed_path("~/runs") == tmp_path / "runs"
    assert typed_path("~no-such-user/runs") == Path("~no-such-user/runs")


@pytest.mark.parametrize("name", ["~no-such-user", "a" * 300, "a\0b"])
def test_what_can_be_no_folder_is_an_unknown_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path))
    with pytest.raises(UnknownNameError):
        find_run(name)
