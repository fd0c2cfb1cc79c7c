import socket

import pytest

from plugrl.cli.supervision import Child, supervise

SERVER = ("dummy-policy", "default", "dummy", "debug", "--port=0")

pytestmark = pytest.mark.integration


async def test_a_server_that_never_listens_gives_its_code_and_no_client_is_started():
    def never(url: str) -> list[str]:
        raise AssertionError(url)

    assert await supervise([*SERVER, "--policy.device=nowhere"], never, {}) == 2


async def test_clients_that_fail_stop_the_server_and_give_their_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    urls: list[str] = []

    def wrong(url: str) -> list[str]:
        urls.append(url)
        return ["no-such-env"]

    assert await supervise([*SERVER, "--exp-name=x"], wrong, {}) == 2
    assert urls[0].startswith("ws://127.0.0.1:")
    assert (tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x" / "0").is_dir()


async def test_both_end_well_when_the_run_is_finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert await supervise(SERVER, lambda url: ["dummy-v1", f"--server-host={url}"], {}) == 0


async def test_a_child_is_stopped_when_its_launchers_end_of_the_link_closes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    child = await Child.start("run-server", SERVER, {})
    url = await child.first_line()
    assert url is not None
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)):
        child._link.close()
        assert await child.wait() == 0
    child.kill()
