import pytest

from plugrl.runs import prefect_api
from plugrl.runs.prefect_profile import setting

PROFILES = """
active = "mine"

[profiles.mine]
PREFECT_API_URL = "http://127.0.0.1:4200/api/"
PREFECT_API_KEY = "of mine"

[profiles.bare]
"""
URL = "PREFECT_API_URL"


@pytest.fixture(autouse=True)
def profiles(tmp_path, monkeypatch):
    """A person's profiles, and nothing in the environment but where they are."""
    for name in (URL, "PREFECT_API_KEY", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "plugrl"))
    path = tmp_path / "profiles.toml"
    path.write_text(PROFILES)
    return path


def test_the_active_profile_names_an_api_that_somebody_runs():
    assert prefect_api.known_url() == "http://127.0.0.1:4200/api"
    given = prefect_api.given_api()
    assert given is not None
    assert given.origin == "PREFECT_API_URL of your Prefect profile 'mine'"
    assert setting("PREFECT_API_KEY") == (
        "of mine",
        "PREFECT_API_KEY of your Prefect profile 'mine'",
    )


def test_the_environment_goes_before_it_and_names_another(monkeypatch, profiles):
    monkeypatch.setenv(URL, "http://elsewhere/api")
    assert prefect_api.given_api() == ("http://elsewhere/api", URL)
    monkeypatch.setenv(URL, "")
    assert prefect_api.known_url() is None
    monkeypatch.delenv(URL)
    monkeypatch.setenv("PREFECT_PROFILE", "bare")
    assert prefect_api.known_url() is None
    monkeypatch.setenv("PREFECT_PROFILE", "mine")
    monkeypatch.setenv("PREFECT_PROFILES_PATH", str(profiles.rename(profiles.with_name("moved"))))
    assert prefect_api.known_url() == "http://127.0.0.1:4200/api"


@pytest.mark.parametrize(
    "text",
    [
        *("", "active =", 'active = "gone"', 'active = "x"\n[profiles]\nx = 3', "profiles = 3"),
        'active = ["mine"]\n[profiles.mine]\nPREFECT_API_URL = "http://x/api"',
    ],
)
def test_where_there_is_no_such_profile_nothing_is_set(text, profiles):
    profiles.write_text(text)
    assert setting(URL) is None
    profiles.unlink()
    assert setting(URL) is None
