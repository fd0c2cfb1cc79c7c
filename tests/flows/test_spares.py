import pytest

from flows import spares
from plugrl.runs import prefect_api


def test_there_is_no_spare_where_prefect_is_away(monkeypatch):
    monkeypatch.setenv(prefect_api.API_VARIABLE, "http://127.0.0.1:9/api")
    spares.prepare()
    assert spares.take() is None


@pytest.mark.usefixtures("prefect_api")
def test_a_spare_is_taken_once_and_one_that_nobody_took_is_ended():
    spares.prepare()
    spare = spares.take()
    assert spare is not None
    assert spares.take() is None
    spare.end()
    spares.prepare()
    spares.dismiss()
    assert spares.take() is None
