import os
import subprocess
import sys

from flows import settings


def test_what_somebody_set_otherwise_is_left_alone(monkeypatch):
    for name in settings.CLIENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_CLIENT_MAX_RETRIES", "9")
    settings.apply()
    assert os.environ["PREFECT_CLIENT_MAX_RETRIES"] == "9"
    assert os.environ["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"


def test_the_local_api_is_set_as_somebody_wants_but_for_where_it_is(monkeypatch):
    monkeypatch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "true")
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere/api")
    environment = settings.server_environment(14999)
    assert environment["PREFECT_SERVER_ANALYTICS_ENABLED"] == "true"
    assert environment["PREFECT_SERVER_LOGS_STREAM_OUT_ENABLED"] == "true"
    assert environment["PREFECT_API_URL"] == "http://127.0.0.1:14999/api"


def test_prefect_takes_every_name_for_a_setting_of_its_own():
    code = """
import os
from flows import settings
environment = settings.server_environment(14999)
os.environ.update({**settings.CLIENT, **environment})
from prefect.settings import get_current_settings
known = get_current_settings()
print(
    known.client.max_retries,
    known.flows.heartbeat_frequency,
    known.logging.to_api.batch_interval,
    known.server.analytics_enabled,
    known.server.ui.show_promotional_content,
    known.server.logs.stream_out_enabled,
    known.server.logs.stream_publishing_enabled,
    known.server.ephemeral.enabled,
    known.server.api.port,
    known.server.ui.api_url,
)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        *("2", "30", "0.5", "False", "False", "True", "True", "False"),
        *("14999", "http://127.0.0.1:14999/api"),
    ]


def test_prefect_and_we_read_the_same_profile(tmp_path):
    (tmp_path / "profiles.toml").write_text(
        'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'
    )
    environment = {n: v for n, v in os.environ.items() if not n.startswith("PREFECT_")}
    code = """
from plugrl.runs import prefect_api
from flows import settings
settings.apply()
from prefect.settings import get_current_settings
print(prefect_api.given_api().value, get_current_settings().api.url)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PREFECT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["http://127.0.0.1:9/api"] * 2
