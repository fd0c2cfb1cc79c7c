import sys

import pytest

from flows import serve_child, spares
from plugrl.registry import Entry, Registry
from plugrl.runs import prefect_api

DUMMY = ("dummy-policy", "default", "dummy", "debug")


def test_there_is_no_spare_where_prefect_is_away(monkeypatch):
    monkeypatch.setenv(prefect_api.API_VARIABLE, "http://127.0.0.1:9/api")
    spares.prepare(DUMMY)
    assert spares.take() is None


@pytest.mark.usefixtures("prefect_api")
def test_a_spare_is_taken_once_and_one_that_nobody_took_is_ended():
    spares.prepare(DUMMY)
    spare = spares.take()
    assert spare is not None
    assert spares.take() is None
    spare.end()
    spares.prepare(DUMMY)
    spares.dismiss()
    assert spares.take() is None


def test_it_imports_what_the_policy_and_the_algorithm_need(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("class Policy: ...")
    monkeypatch.syspath_prepend(tmp_path)
    mine = Registry("policy", {"mine": Entry("", "slow_to_import:Policy")})
    monkeypatch.setattr(serve_child, "POLICIES", mine)
    serve_child.warm_up([])
    assert "slow_to_import" not in sys.modules
    serve_child.warm_up(["mine", "of-a-plug-in"])
    assert sys.modules.pop("slow_to_import") is not None
