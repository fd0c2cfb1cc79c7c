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


@pytest.mark.usefixtures("prefect_api")
def test_a_spare_is_told_what_its_server_is_likely_to_need(monkeypatch):
    told = []
    monkeypatch.setattr(spares, "Spare", lambda *told_of: told.append(told_of))
    spares.prepare([*DUMMY, "--env", "hopper"])
    spares.prepare(["--env", "hopper", *DUMMY])
    spares.take(), spares.take()
    assert told == [("flows.serve_child", ["dummy-policy", "dummy"])] * 2


def test_it_imports_what_the_policy_and_the_algorithm_need(tmp_path, monkeypatch):
    for name, registry in (("policy", "POLICIES"), ("algorithm", "ALGORITHMS")):
        (tmp_path / f"slow_{name}.py").write_text("class Mine: ...")
        mine = Registry(name, {"mine": Entry("", f"slow_{name}:Mine")})
        monkeypatch.setattr(serve_child, registry, mine)
    monkeypatch.syspath_prepend(tmp_path)
    serve_child.warm_up([])
    assert {"slow_policy", "slow_algorithm"}.isdisjoint(sys.modules)
    serve_child.warm_up(["mine", "of-a-plug-in"])
    assert sys.modules.pop("slow_policy") is not None
    assert "slow_algorithm" not in sys.modules
    serve_child.warm_up(["of-a-plug-in", "mine"])
    assert sys.modules.pop("slow_algorithm") is not None
