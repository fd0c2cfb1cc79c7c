import pytest

from plugrl.cli.supervision import supervise

SERVER = ("dummy-policy", "default", "dummy", "debug", "--port=0")

pytestmark = pytest.mark.integration


async def test_a_server_that_never_listens_gives_its_code_and_no_client_is_started(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def never(url: str) -> list[str]:
        raise AssertionError(url)

    assert await supervise([*SERVER, "--policy.device=nowhere"], never, {}) == 2
    assert list(tmp_path.iterdir()) == []


async def test_clients_that_fail_stop_the_server_and_give_their_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    urls: list[str] = []

    def wrong(url: str) -> list[str]:
        urls.append(url)
        return ["no-such-env"]

    assert await supervise([*SERVER, "--exp-name=x"], wrong, {}) == 2
    assert urls[0].startswith("ws://127.0.0.1:")
    assert (tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x" / "0").is_dir()
